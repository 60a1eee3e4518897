"""The parts of the Results and Export pages: the table of runs, curves, scores, mix-ups and the classifier."""
