"""The judgements of bench/peers, and the page that is made of them."""
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent / "docs/measured/peers.md"
TOOLS = {"archguard": "`archguard doctor`", "torch": "torch `collect_env`", "flashinfer": "flashinfer `collect_env`", "bitsandbytes": "`python -m bitsandbytes`"}
VERDICTS = ("names it", "has the facts", "silent")
NO_CODE = (r"(?:(?:has|have|with|contains?|holds?) (?:no|hardly any) (?:code|kernels?|cubins?)|lacks?\b|lacking|(?:does|do) not (?:support|include|contain|have)"
           r"|not (?:built|compiled) for|no kernel image|(?:not |in)compatible with)")


def expression(text, gpu):
    """One of peers.json with its shorthands written out."""
    major, minor = gpu["cc"].split(".")
    known_as = [re.escape(gpu["name"]), r"(?<![\d.])%s\.%s(?![\d.])" % (major, minor), r"\(%s, '?%s'?\)" % (major, minor), r"sm_?%s%s(?!\d)" % (major, minor)]
    text = text.replace("{gpu}", "(?:%s)" % "|".join(known_as))
    text = text.replace("{version torch ", "{version (?:py)?torch(?:\\sversion)? ")
    text = re.sub(r"\{lacks (.*?)\}", lambda match: r"^[^\n]*(?<![\w-])%s(?![\w-])[^\n]*%s[^\n]*$" % (match.group(1), NO_CODE), text)
    return re.sub(r"\{version (\S+) (\S+)\}", lambda match: r"(?<![\w-])%s(?![\w-])[\s:=v]+%s(?![\w.])" % match.groups(), text)


def judged(text, told, gpu):
    """The verdict, and the line that decided it."""
    def found(which):
        return [re.search(expression(each, gpu), text, re.I | re.M) for each in told[which]]

    def line_of(match):
        return text[text.rfind("\n", 0, match.start()) + 1:].split("\n")[0]

    names, facts = found("names"), found("facts")
    if any(names):
        return VERDICTS[0], line_of(next(match for match in names if match))
    if all(facts):
        return VERDICTS[1], " / ".join(line_of(match) for match in facts)
    return VERDICTS[2], "lacks: " + " and ".join(each for each, match in zip(told["facts"], facts) if not match)


def summary(rows):
    lines = ["| tool | names it | has the facts | silent |", "|---|---:|---:|---:|"]
    for tool, title in TOOLS.items():
        counts = [sum(verdicts[tool][0] == verdict for _, verdicts in rows) for verdict in VERDICTS]
        lines.append("| %s | %s |" % (title, " | ".join(map(str, counts))))
    return lines


def table(rows):
    cells = {"names it": "**names it**", "has the facts": "facts", "silent": "–"}
    lines = ["| situation | %s |" % " | ".join(TOOLS.values()), "|---|%s" % ("---|" * len(TOOLS))]
    for situation, verdicts in rows:
        lines.append("| %s | %s |" % (situation["name"], " | ".join(cells[verdicts[tool][0]] for tool in TOOLS)))
    return lines


def page(document, rows, unexpected):
    missed = [situation["name"] for situation, verdicts in rows if verdicts["archguard"][0] != VERDICTS[0]]
    others = [tool for tool in TOOLS if tool != "archguard"]
    said = "In all situations the first finding of the doctor is the one that `reports.json` expects."
    if unexpected:
        said = "The first finding of the doctor is not the one that `reports.json` expects in: %s." % "; ".join(unexpected)
    if missed:
        said += "\nBy these expressions it does not name the cause in %s: it says that the architectures are fine, and to look elsewhere." % " and ".join(
            "“%s”" % name for name in missed)
    return TEXT % {
        "count": len(rows), "summary": "\n".join(summary(rows)), "table": "\n".join(table(rows)), "said": said,
        "together": sum(any(verdicts[tool][0] == VERDICTS[0] for tool in others) for _, verdicts in rows),
        "facts": sum(any(verdicts[tool][0] == VERDICTS[1] for tool in others) and not any(verdicts[tool][0] == VERDICTS[0] for tool in others) for _, verdicts in rows),
        "torch": document["releases"]["torch"], "flashinfer": document["releases"]["flashinfer-python"], "bitsandbytes": document["releases"]["bitsandbytes"],
        "older": ", ".join(document["bitsandbytes"])}


TEXT = """# Who names the cause

`archguard doctor` beside three tools that print a report of the environment: torch's `collect_env`, flashinfer's, and bitsandbytes' own. Each ran in the
%(count)d situations of `tests/doctor/reports.json`, which play public reports. `bench/peers` fetches the tools, runs them, judges what they print, and writes this page.

%(summary)s

The other three together name the cause in %(together)d, and in %(facts)d more at least one of them prints the facts. %(said)s

**One bias remains:** the doctor was written for these situations. Its score on reports that it had not seen is [lower](../reference/doctor.md#how-often-it-is-right).
And the three were not made to diagnose: they collect what a maintainer asks for in a bug report.

## How it is judged

`bench/peers.json` holds two lists of expressions for each situation, written down from the report. All tools are judged by the same ones, on the text that they print
(of the doctor: its text, not its JSON).

- **names it**: one of the first list stands in the text: the cause, or the package to change and what is wrong with it. A warning or an error counts if it says as much, also where the
  tool only passes it on.
- **facts**: all of the second list stand there: what somebody needs who knows the releases by heart. If a package has no code, that is the GPU and the version of the package, though neither
  says which architectures it holds.
- **–**: neither.

## The situations

%(table)s

## What was played

The tools are torch %(torch)s, flashinfer-python %(flashinfer)s and bitsandbytes %(bitsandbytes)s from PyPI, with what they need. Where a situation has bitsandbytes, the tool is that of its
release (%(older)s). Both `collect_env` run as files of their own, as their projects ask of somebody whose package cannot be imported; torch and flashinfer can be imported all the same.
The environment is the situation's: a venv with its packages, versions and files, its variables, and the tools behind it.

| what they ask | answer |
|---|---|
| `nvidia-smi`, `-L`, `--query-gpu`, `topo -m` | a script that answers with the situation's GPU, compute capability and driver. If a situation names only a capability, or only the CUDA of the driver, `bench/peers.json` has a GPU or a driver of it |
| `import torch` | the real torch %(torch)s, with the version and the CUDA of the situation's. If the situation has none, with those that suit the GPU |
| `torch.cuda` | torch's own code, also its check of the GPU against its architectures, with its warning. Only what it asks its C++ part is answered: one GPU with its capability, the architectures of the situation's `libtorch_cuda.so`, and a driver that works, or fails with torch's words for the error |
| `libcuda.so.1` | the played one, if the situation has one that the loader finds; it is loaded |
| the name of the kernel, `/.dockerenv` | the situation's |
| `nvcc` | if the situation has one, it runs, and its folder is in `PATH` |
| bitsandbytes' libraries | named as in the situation, or as in the wheel. Each has the functions of the real one, and loads without CUDA |
| bitsandbytes' check, which computes on the GPU | ends as it would there: with an error if torch or bitsandbytes has no code, else well |
| a torch that cannot be imported (libnvJitLink) | the `ImportError` of the report |

`bench/peers_shim.py` answers in Python. The doctor is not given the error (`--error`), since the others cannot be, and in most situations it is given the GPU by `--device`.

## Limits

- There was no GPU and no driver. What a tool would do with a real one, beyond the table above, was not seen: flashinfer computes something to load cuBLAS and cuDNN, which fails here.
- One release stands for all. torch's warning is that of %(torch)s in every situation; older releases warn in other words, and name no index.
- torch's warning counts for each tool that initializes torch's CUDA, though a user's own program prints it too.
- Where a tool is silent, it is mostly for the version of a package: torch's and bitsandbytes' list only a few of them, flashinfer's more.
- The three read no device code; torch tells its own list. They cannot know what other packages hold, and do not claim to.
- In flashinfer's list of loaded libraries those of torch %(torch)s, and of a CUDA on the machine, stand beside the situation's.
- The expressions are ArchGuard's own. Change what you find unfair in `bench/peers.json`, and `bench/peers write` judges again.
"""
