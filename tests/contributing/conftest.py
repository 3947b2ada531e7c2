# SPDX-License-Identifier: Apache-2.0
"""The tests in recipes/ run in the copy of the tree that test_recipes.py makes, and nowhere
else."""
collect_ignore = ["recipes"]
