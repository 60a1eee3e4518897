"""What a person makes (a project) and what a run says (events). Standard library only."""
