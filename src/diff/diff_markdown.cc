#include "diff/diff_report.h"
#include "report/markdown.h"
#include "report/names.h"

namespace archguard {
void write_diff_markdown(const Difference& difference, const Style&, TextSink& sink) {
  const auto line = [&](const std::string& text) { sink.write(text + "\n"); };
  line("### " + markdown_escape(verdict_text(difference)));
  line("");
  line(markdown_escape(names_text(difference)));
  line("");
  if (!difference.losses.empty()) {
    line("| file | devices | what | cause |");
    line("|---|---|---|---|");
    for (const std::vector<const CoverageLoss*>& group : loss_groups(difference)) {
      const CoverageLoss& loss = *group.front();
      line("| " + markdown_escape(files_text(difference, group)) + " | " +
           markdown_escape(devices_text(difference, loss.devices)) + " | " +
           markdown_escape(loss_text(difference, loss)) + " | " + markdown_escape(cause_text(loss)) + " |");
    }
    line("");
  }
  DiffSizes before = sizes_of(difference.before), after = sizes_of(difference.after);
  for (const auto& [image, size] : after) before.try_emplace(image);
  line("| arch | kind | images | kernels | stored | inflated |");
  line("|---|---|---:|---:|---:|---:|");
  const auto row = [&](const std::string& arch, std::string_view kind, const DiffSize& was,
                       const DiffSize& is) {
    line("| " + arch + " | " + std::string(kind) + " | " + change_text(was.images, is.images) + " | " +
         change_text(was.kernels, is.kernels) + " | " + size_change_text(was.stored, is.stored) + " | " +
         size_change_text(was.uncompressed, is.uncompressed) + " |");
  };
  for (const auto& [image, size] : before)
    row(to_string(image.second), name_of(image.first), size, after[image]);
  row("total", "", total_of(before), total_of(after));
  line("");
  for (const FilePair& pair : difference.files)
    if (!pair.before || !pair.after)
      line(std::string(pair.after ? "- came: " : "- went: ") + markdown_escape(pair_text(difference, pair)));
  if (const std::string hint = scope_hint(difference); !hint.empty()) line("- " + markdown_escape(hint));
  if (const std::string ptx = ptx_text(difference); !ptx.empty()) line("- " + markdown_escape(ptx));
  for (const DiffSide* side : {&difference.before, &difference.after})
    for (const std::string& path : side->passed_over)
      line("- passed over, and may hold device code: " + markdown_escape(path));
  for (const DiffSide* side : {&difference.before, &difference.after})
    for (const Error& error : side->errors) line("- error: " + markdown_escape(error.text()));
  if (const std::string growth = growth_text(difference); !growth.empty())
    line("- " + markdown_escape(growth));
  sink.flush();
}

}  // namespace archguard
