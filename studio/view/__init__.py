"""Everything that is seen: Qt widgets over the values of `core` and the services of `runs`. No torch."""
