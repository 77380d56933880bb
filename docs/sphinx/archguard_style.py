"""Colours of code, light and dark: each at least 4.5 to 1 against its background (tests/docs/browse.py measures it)."""
from pygments.style import Style
from pygments.token import Comment, Error, Generic, Keyword, Name, Number, Operator, Punctuation, String, Text, Token


def colours(text, quiet, keyword, name, string, number):
    return {Token: text, Text: text, Error: text, Operator: text, Punctuation: text, Name: text, Comment: "italic " + quiet,
            Keyword: keyword, Name.Builtin: keyword, Name.Function: name, Name.Class: name, Name.Tag: name, Name.Variable: name,
            Name.Attribute: name, String: string, Number: number, Generic.Prompt: "bold " + name, Generic.Output: quiet}


class Light(Style):
    background_color = "#f6f8fa"
    styles = colours("#1f2328", "#4b535d", "#a3152a", "#0b57a4", "#0b5c2e", "#6b3fa0")


class Dark(Style):
    background_color = "#1b1f24"
    styles = colours("#e2e4e8", "#b3bac3", "#ff9aa2", "#7db8f5", "#8fe0ad", "#cdb2f7")
