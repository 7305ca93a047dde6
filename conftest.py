"""Every test, the examples in src too, runs in the surroundings that tests/isolation.py makes."""

pytest_plugins = ["tests.isolation"]
