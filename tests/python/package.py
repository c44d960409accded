"""The beginning of every test of the Python package: the package of the build is
found, and so is tests/programs.py; a test that needs what is not there ends.
"""
import importlib
import logging
import os
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import TDLC  # noqa: E402

BUILD = os.path.dirname(os.path.abspath(TDLC))
sys.path.insert(0, os.path.join(BUILD, "python"))
if os.environ.get("SANITIZE") == "yes":
    print("SKIP: a library with sanitizers is not loaded by Python")
    sys.exit(77)
logging.disable(logging.WARNING)
warnings.filterwarnings("ignore")


def needs(*names):
    """Ends the test as skipped where one of these modules is not there."""
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError as e:
            print(f"SKIP: {e} (tests/requirements-python.txt, "
                  "requirements-torch.txt)")
            sys.exit(77)
