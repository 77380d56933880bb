"""What Tab offers in bash, zsh and fish, from what was installed: completions.py PREFIX WORK"""
import os
import pathlib
import pty
import select
import shutil
import subprocess
import sys

prefix, work = (pathlib.Path(each).resolve() for each in sys.argv[1:])
failures = 0
ENVIRONMENT = dict(os.environ, PATH="%s:%s" % (prefix / "bin", os.environ["PATH"]), HOME=str(work), ZDOTDIR=str(work),
                   XDG_CONFIG_HOME=str(work), XDG_DATA_DIRS=str(prefix / "share"), TERM="dumb")

# A command line, and some of what Tab then offers; what starts with ! is not offered.
CASES = [
    (("archguard", "ver"), ("verify", "!inspect")),
    (("archguard", ""), ("inspect", "verify", "report", "diff", "doctor", "explain", "releases", "requirements", "fleet", "!check-target")),
    (("archguard", "requirements", "--for", ""), ("oci", "kubernetes", "dra", "slurm", "htcondor", "conda", "json")),
    (("archguard", "ser"), ("serves",)),
    (("archguard", "verify", "--nee"), ("--needed", "--needed-only", "--needed-list", "!--device")),
    (("archguard", "verify", "--hollow", ""), ("error", "warn", "off", "!--device")),
    (("archguard", "inspect", "--by", "k"), ("kernel", "!arch")),
    (("archguard", "verify", "--fleet", "fl"), ("fleet.csv",)),
    (("archguard", "fleet", ""), ("import", "check", "!verify")),
    (("archguard", "fleet", "import", "--from", ""), ("kubernetes", "slurm", "dcgm")),
    (("archguard", "fleet", "import", "--ho"), ("--hosts",)),
    (("archguard", "fleet", "check", "fl"), ("fleet.csv",)),
    (("arch_probe", "se"), ("select",)),
    (("arch_probe", "--for"), ("--format", "!--fleet")),
    (("arch_probe", "--vers"), ("--version",)),
    (("arch_probe", "select", "--format", ""), ("cmake", "torch", "gencode", "json")),
    (("arch_probe", "select", "--on-no-device", "b"), ("baseline", "!error")),
]

BASH = r"""
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) words=$#
_archguard "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]}"
((${#COMPREPLY[@]})) || compgen -f -- "${COMP_WORDS[COMP_CWORD]}"
"""


class Zsh:
    """An interactive zsh behind a terminal, which alone completes; Tab lists what there is."""

    def __init__(self):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(work)
            os.execvpe("zsh", ["zsh", "-f", "-i"], ENVIRONMENT)
        self.ask("fpath=(%s $fpath); autoload -Uz compinit; compinit -u -D; bindkey '^I' list-choices; LISTMAX=0; "
                 "zstyle ':completion:*' verbose no; stty columns 200 rows 200\n" % (prefix / "share/zsh/site-functions"), 2)

    def ask(self, keys, seconds):
        """What is printed until nothing comes for so long."""
        os.write(self.terminal, keys.encode())
        output = b""
        while select.select([self.terminal], [], [], seconds)[0]:
            output += os.read(self.terminal, 65536)
        return output.decode(errors="replace")

    def offered(self, words, expected):
        """What Tab shows. A busy machine may take seconds before it shows anything."""
        line = " ".join(words)
        output = self.ask(line + "\t", 0.7)
        for _ in range(20):
            if all(each.startswith("!") or each in output.replace(line, "", 1) for each in expected):
                break
            output += self.ask("", 1)
        self.ask("\x15", 0.2)
        return output.replace(line, "", 1)

    def end(self):
        os.close(self.terminal)
        os.waitpid(self.process, 0)


def offered_by(shell, words):
    if shell == "bash":
        command = ["bash", "-c", BASH, "bash", prefix / "share/bash-completion/completions" / words[0], *words]
    else:
        command = ["fish", "--no-config", "-c", "source %s; complete -C '%s'" % (
            prefix / "share/fish/vendor_completions.d" / (words[0] + ".fish"), " ".join(words))]
    done = subprocess.run([str(each) for each in command], env=ENVIRONMENT, cwd=work, stdin=subprocess.DEVNULL, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout


shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
(work / "fleet.csv").write_text("")
for shell in ("bash", "zsh", "fish"):
    if not shutil.which(shell):
        print("SKIPPED: no %s (Debian: apt-get install %s)" % (shell, shell))
        continue
    zsh = Zsh() if shell == "zsh" else None
    for words, expected in CASES:
        output = zsh.offered(words, expected) if zsh else offered_by(shell, words)
        found = [word for line in output.split("\n") for word in line.split("\t")[0].split()]
        for each in expected:
            if (each.lstrip("!") in found) == each.startswith("!"):
                failures += 1
                print("%s: %s<Tab>: expected %s, found:\n%s" % (shell, " ".join(words), each, output))
    if zsh:
        zsh.end()
    print("%s: %d command lines" % (shell, len(CASES)))
sys.exit(1 if failures else 0)
