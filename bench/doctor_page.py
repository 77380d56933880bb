"""The page of bench/doctor: docs/measured/doctor.md."""
import json
import os
import re
import statistics

import packages_page

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
PAGE = os.path.join(ROOT, "docs/measured/doctor.md")
CAUSES = ("certain", "likely")


def plan():
    """What bench/doctor.json asks for."""
    with open(os.path.join(HERE, "doctor.json")) as file:
        data = json.load(file)
    keys = [key_of(each) for section in ("healthy", "situations") for each in data[section]]
    twice = {key for key in keys if keys.count(key) > 1}
    lost = [each for section in ("healthy", "situations") for each in data[section] if each["environment"] not in data["environments"]]
    if twice or lost:
        raise ValueError("bench/doctor.json: twice %s, without environment %s" % (sorted(twice), lost))
    return data


def key_of(combination):
    return "%s: %s" % (combination["environment"], combination.get("name", "as installed"))


def results(path):
    """The last line of each environment."""
    known = {}
    if os.path.exists(path):
        with open(path) as file:
            for line in file:
                record = json.loads(line)
                known[record["environment"]] = record
    return known


def named(finding):
    package = finding["package"]["name"] if finding["package"] else "-"
    return "%s %s %s" % (finding["id"], package, finding["rank"])


def causes_of(said):
    return [each for each in said["findings"] if each["rank"] in CAUSES]


def risk_of(finding):
    return "%s of %s" % (finding["id"], finding["package"]["name"]) if finding["package"] else finding["id"]


def risks_of(said):
    return sorted({risk_of(each) for each in said["findings"] if each["rank"] == "risk"})


def is_met(situation, said):
    """Whether the doctor says what was written down: the exit status, the first finding, and words of its fix and evidence."""
    if situation["expect"] == "clean":
        return said["exit"] == 0
    if said["exit"] != 1 or not said["findings"]:
        return False
    first = said["findings"][0]
    if not named(first).startswith(situation["expect"]):
        return False
    text = json.dumps(first, ensure_ascii=False)
    return all(word in first["fix"] for word in situation.get("fix", [])) and all(word in text for word in situation.get("says", []))


def devices_text(asked):
    """`8.0@12.0 8.0@12.8` is written as 8.0 (12.0, 12.8)."""
    by_gpu, several = {}, []
    for devices in asked:
        if isinstance(devices, list):
            several.append(" with ".join(devices))
        else:
            gpu, _, driver = devices.partition("@")
            by_gpu.setdefault(gpu, []).append(driver)
    return "; ".join(["%s (%s)" % (gpu, ", ".join(drivers)) for gpu, drivers in by_gpu.items()] + several)


def risks_text(all_said):
    """Each risk, with the GPUs that it was named for."""
    found = {}
    for said in all_said:
        for finding in said["findings"]:
            if finding["rank"] == "risk":
                gpus = re.findall(r"--device ([0-9.]+)@", finding["cause"]) or [each.split("@")[0] for each in said["devices"]]
                found.setdefault(risk_of(finding), []).extend(gpus)
    order = lambda gpu: [int(part) for part in gpu.split(".")]  # noqa: E731
    return "; ".join("%s (%s)" % (risk, ", ".join(sorted(set(gpus), key=order))) for risk, gpus in sorted(found.items())) or "-"


def healthy_rows(data, known):
    rows = []
    for name in data["environments"]:
        for combination in data["healthy"]:
            if combination["environment"] != name:
                continue
            said = [each for each in known.get(name, {}).get("said", [])
                    if each["section"] == "healthy" and each["combination"] == key_of(combination)]
            rows.append((combination, said))
    return rows


def environments_table(data, known):
    rows = []
    for name, spec in data["environments"].items():
        record = known.get(name)
        if record is None or "failed" in record:
            continue
        said = [each for each in record["said"] if each["section"] == "healthy"]
        rows.append([name, " ".join("`%s`" % each for each in spec["packages"] + spec.get("over", [])), spec.get("python", "3.11"), str(len(record["packages"])),
                     "%.1f" % (record["bytes"] / 1e9), str(len(said)), str(sum(bool(causes_of(each)) for each in said)),
                     "%.1f" % statistics.median(each["seconds"] for each in record["said"])])
    return packages_page.table(["environment", "asked of pip", "Python", "packages", "GB", "healthy combinations", "accused", "seconds each"], rows)


def accused_lines(rows):
    lines = []
    for combination, all_said in rows:
        for said in all_said:
            for cause in causes_of(said):
                lines.append("- %s, %s: **%s**: %s%s" % (key_of(combination), " with ".join(said["devices"]), named(cause), cause["cause"],
                                                         " (%s)" % combination["remark"] if "remark" in combination else ""))
            if said["exit"] not in (0, 1):
                lines.append("- %s, %s: exit %d, not looked at: %s" % (key_of(combination), " with ".join(said["devices"]), said["exit"],
                                                                       ", ".join(said["unread"]) or "-"))
    return lines


def situations_table(data, known):
    rows, met, count = [], 0, 0
    for situation in data["situations"]:
        all_said = [each for each in known.get(situation["environment"], {}).get("said", [])
                    if each["section"] == "situations" and each["combination"] == key_of(situation)]
        for said in all_said:
            good = is_met(situation, said)
            met, count = met + good, count + 1
            first = said["findings"][0] if said["findings"] else None
            fix = " ".join(causes_of(said)[0]["fix"].split()) if causes_of(said) else "-"
            rows.append([situation["name"], situation["environment"], " with ".join(said["devices"]), situation["expect"],
                         (named(first) if first else "nothing"), fix.replace("|", "\\|"), "yes" if good else "**no**"])
    return packages_page.table(["situation", "environment", "GPU", "expected", "first finding", "fix", "as expected"], rows), met, count


def page_of(data, known):
    made = [known[name] for name in data["environments"] if name in known and "failed" not in known[name]]
    rows = healthy_rows(data, known)
    said = [each for _, all_said in rows for each in all_said]
    accused = [each for each in said if causes_of(each)]
    seconds = [each["seconds"] for record in made for each in record["said"]]
    table, met, count = situations_table(data, known)
    dates = sorted({record["date"] for record in made})
    risky = [each for each in said if risks_of(each)]
    blind = [each for combination, all_said in rows if data["environments"][combination["environment"]].get("blind") for each in all_said]
    blind_names = [name for name, spec in data["environments"].items() if spec.get("blind")]
    lines = [
        "# `archguard doctor` on real environments", "",
        "%d environments, made by pip from wheels on PyPI on %s (%.0f GB): does the [doctor](../reference/doctor.md) accuse one that is" % (
            len(made), " to ".join(sorted({dates[0], dates[-1]})), sum(record["bytes"] for record in made) / 1e9),
        "healthy, and does it name the cause where one is broken? No GPU and no driver was there: each run names them (`--device`).", "",
        "| | runs | |", "|---|---:|---|",
        "| healthy combinations of environment, GPU and driver | %d | %d accused of a certain or likely cause; %d with a risk, exit status 0 |" % (
            len(said), len(accused), len([each for each in risky if not causes_of(each)])),
        "| situations with a known cause | %d | %d as written down |" % (count, met), "",
        "A run takes %.1f s in the median, %.1f s at most, on two cores that other work shares." % (statistics.median(seconds), max(seconds)), "",
        "## Healthy", "",
        "What is healthy was taken from what NVIDIA and the projects document, before the doctor ran ([why](#why-each-is-healthy)): the GPUs of the",
        "release build or of the documentation, with the lowest driver that NVIDIA names for the CUDA release (minor version compatibility) or for",
        "the GPU, and with newer ones. *packages*: how many pip installed.", ""]
    lines += environments_table(data, known)
    lines += ["", "### Accused", ""] + (accused_lines(rows) or ["None."])
    lines += ["", "The first run of the first %d environments accused %d of %d combinations and missed two situations; the doctor was changed, and run" % (
        len(made) - len(blind_names), data["first_accused"], len(said) - len(blind)),
              "again. So their count above is no blind one. %d environments were added after the last of these changes (%s): of" % (
                  len(blind_names), ", ".join(blind_names)),
              "their %d combinations the first run accused **%d**." % (len(blind), data["blind_accused"]),
              "What was found, and is changed:", ""]
    lines += ["- " + each for each in data["mended"]]
    lines += ["", "### Combinations", "",
              "GPU by compute capability, in brackets the CUDA of the driver. A risk does not change the exit status.", ""]
    lines += packages_page.table(["environment", "what is special", "GPU (driver)", "runs", "accused", "risks"], [
        [each["environment"], each.get("name", "as installed"), devices_text(each["devices"]), str(len(all_said)),
         str(sum(bool(causes_of(one)) for one in all_said)), risks_text(all_said)] for each, all_said in rows])
    lines += ["", "### Why each is healthy", ""]
    for reason in dict.fromkeys(each["why"] for each, _ in rows):
        whose = ["%s%s" % (each["environment"], " (%s)" % each["name"] if "name" in each else "") for each, _ in rows if each["why"] == reason]
        lines.append("- %s: %s" % (", ".join(whose), data["reasons"].get(reason, reason)))
    lines += ["", "## Situations", "",
              "The cases that this project started from, with the very releases, and others of the kind. What the first finding should be was written",
              "down first: id, package, rank.", ""]
    lines += table
    lines += ["", "After the first run, these were corrected here, not in the doctor, and are not counted above as accused or missed:", ""]
    lines += ["- " + each for each in data["corrected"]]
    failed = ["- %s: %s" % (name, known[name]["failed"]) for name in data["environments"] if "failed" in known.get(name, {})]
    if failed:
        lines += ["", "## Not made", ""] + failed
    lines += ["", "```", "bench/doctor run --archguard build/tools/archguard/archguard", "bench/doctor page", "```", ""]
    return "\n".join(lines)


def write(results_file, output):
    with open(output, "w") as file:
        file.write(page_of(plan(), results(results_file)))
