# Of what --help prints, a line for each option and command: its name, its value or -, and what it does.
function flush() {
  for (i = 1; i <= names; ++i) print name[i] "\t" value "\t" about
  names = 0
}
/^(Examples|Exit status|examples|exit status):/ { exit }
/^Commands:/ { commands = 1 }
/^ +arch_probe [a-z]+ / { print $2 "\t-\t" }
/^                    / && names { sub(/^ +/, ""); about = about (about == "" ? "" : " ") $0; next }
{ flush() }
(commands && /^  [a-z]/) || /^ +-/ {
  sub(/^ +/, "")
  about = ""
  if (match($0, /  +/)) { about = substr($0, RSTART + RLENGTH); $0 = substr($0, 1, RSTART - 1) }
  value = "-"
  names = split($0, name, /[ ,]+/)
  if ($0 ~ /^-/ && name[names] !~ /^-/) value = name[names--]
}
END { flush() }
