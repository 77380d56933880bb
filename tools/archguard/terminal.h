#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "base/text_source.h"
#include "files.h"

namespace archguard {

void print(std::string_view text);
void print_source(const TextSource& text);

class PrintingSink : public TextSink {
  void pass_on(std::string_view text) override { print(text); }
};

// Shows how far the work on these files is (progress.h).
void show_progress(const FilesDone& done, std::size_t files);

// The width of the terminal that standard output is, in columns; 0 where it is none, or does not tell.
std::size_t columns_of_stdout();

// What --help is wrapped at: COLUMNS where it is set, else the terminal's width, between 60 and 100 columns.
std::size_t columns_for_help();

// Whole lines, to standard error.
void print_messages(std::string_view lines);

// Were all prints written? Fails on a full disk or a closed descriptor.
Status finish_printing();

// "archguard: error: where: what" and the fix, to standard error.
void print_error(const Error& error);
void print_warning(const Error& error);  // likewise

}  // namespace archguard
