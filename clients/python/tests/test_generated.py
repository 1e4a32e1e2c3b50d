"""What is generated is what would be generated now."""

import importlib.util
from pathlib import Path

HERE = Path(__file__).parents[1]


def test_models_and_the_client_without_async_are_not_stale() -> None:
    spec = importlib.util.spec_from_file_location("generate", HERE / "generate.py")
    assert spec is not None and spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert generate.stale() == []
