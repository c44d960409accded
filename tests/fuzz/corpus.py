"""ONNX's node tests as seeds: small models, as exporters would write them.

	corpus.py FOLDER MOST_BYTES
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "onnx"))
try:
    import node_tests
except ImportError as e:
    print(f"SKIP: {e}")
    sys.exit(77)


def main():
    folder, most = sys.argv[1], int(sys.argv[2])
    for test in node_tests.load():
        model, fed, _ = node_tests.model_of(test)
        for info in model.graph.input:
            if info.name in fed and not node_tests.fixed(info):
                shape = info.type.tensor_type.shape
                del shape.dim[:]
                for n in fed[info.name].shape:
                    shape.dim.add().dim_value = n
        data = model.SerializeToString()
        if len(data) <= most:
            with open(os.path.join(folder, test.name), "wb") as f:
                f.write(data)


if __name__ == "__main__":
    main()
