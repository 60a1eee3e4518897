"""Tests of the data set layer; they need neither torch nor Qt."""
