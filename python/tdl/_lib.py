"""libtdl, loaded with cffi: its declarations are those of the tdl.h that lies
beside this file, so that the two cannot drift apart."""
import os
import re

import cffi

HERE = os.path.dirname(os.path.abspath(__file__))


def _declarations():
    """The header without what belongs to the preprocessor and to C++."""
    with open(os.path.join(HERE, "tdl.h"), encoding="utf-8") as f:
        text = f.read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"^#ifdef __cplusplus$.*?^#endif$", "", text,
                  flags=re.S | re.M)
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    return text.replace("TDL_API ", "")


ffi = cffi.FFI()
ffi.cdef(_declarations())
# It stays where it is until the process ends: objects may be freed when Python
# has forgotten this module.
lib = ffi.dlopen(os.environ.get("TDL_LIBRARY",
                                os.path.join(HERE, "libtdl.so")),
                 ffi.RTLD_NOW | ffi.RTLD_NODELETE)


def operators_folder():
    """The operator library of the package; None where another one is meant."""
    folder = os.path.join(HERE, "opdefs")
    return folder if os.path.isdir(folder) else None
