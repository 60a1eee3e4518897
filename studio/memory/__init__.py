"""Reads what a run's probes recorded: timelines, growth, forecast against actual. No torch, no Qt."""
