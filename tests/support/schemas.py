"""Holds the JSON of the programs to docs/schema. A document names its schema: {"schema": "archguard.verify/1", …}.

    import schemas
    faults = schemas.faults(document)     texts, none where the document is as its schema says

It takes fastjsonschema, which lies in the cache of tests/support/fetch (report-readers); without it faults() is None.
"""
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "docs/schema"
CACHE = pathlib.Path(os.environ.get("ARCHGUARD_CACHE") or ROOT / ".cache")
SKIPPED = "SKIPPED: fastjsonschema is missing: tests/support/fetch report-readers"

_validators = {}


def path_of(name):
    """docs/schema/verify-1.json of archguard.verify/1."""
    return FOLDER / (name.replace("archguard.", "", 1).replace("/", "-") + ".json")


def _validator(name):
    if name not in _validators:
        import fastjsonschema
        path = path_of(name)
        _validators[name] = fastjsonschema.compile(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None
    return _validators[name]


def faults(document):
    try:
        sys.path.append(str(CACHE / "report-readers"))
        import fastjsonschema
    except ImportError:
        return None
    finally:
        sys.path.pop()
    name = document.get("schema")
    if not isinstance(name, str) or _validator(name) is None:
        return ["docs/schema has no schema '%s'" % name]
    try:
        _validator(name)(document)
    except fastjsonschema.JsonSchemaException as error:
        return ["%s: %s" % (name, error.message[:400])]
    return []
