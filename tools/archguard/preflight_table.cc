#include "coverage/preflight_table.h"

#include "base/printable.h"
#include "base/write_file.h"
#include "commands.h"
#include "host/elf_dynamic.h"
#include "host/zip.h"
#include "report_files.h"
#include "terminal.h"

namespace archguard {
namespace {

Result<std::string> build_id_of(const ByteSource& source, const std::string& path) {
  auto dynamic = read_elf_dynamic(source);
  if (!dynamic) return dynamic.error();
  if (!*dynamic)
    return Error{path, "is no ELF file", "name the program or library that carries the preflight"};
  if ((*dynamic)->build_id.empty())
    return Error{path, "has no build-id, by which its preflight could know the table for its own",
                 "link it with -Wl,--build-id"};
  return (*dynamic)->build_id;
}

Status add_file(PreflightTable& table, const std::string& path) {
  ARCHGUARD_TRY(source, FileSource::open(path));
  if (holds_files(source))
    return Error{path, is_zip(source) ? "is a zip file" : "is an archive", "unpack it, and name its members"};
  const DeviceCode code = read_device_code(source, path);
  for (const DeviceObject& object : code.objects)
    if (!object.linked) return Error{path, "is no linked file", "name what the linker makes of it"};
  return table.add(code, source, path);
}

}  // namespace

Result<int> run_preflight_table(const PreflightTableOptions& options) {
  const std::string& program = options.paths.front();
  const std::string written = options.output.empty() ? program + ".preflight" : options.output;
  ARCHGUARD_CHECK(check_can_write(options.output.empty() ? written : "--output " + written, written,
                                  program.substr(program.find_last_of('/') + 1) + ".preflight"));
  ARCHGUARD_TRY(source, FileSource::open(program));
  ARCHGUARD_TRY(build_id, build_id_of(source, program));
  PreflightTable table;
  for (const std::string& path : options.paths) ARCHGUARD_CHECK(add_file(table, path));
  if (table.empty()) {
    const Error error{program, "holds no device code, so it has no use for a table",
                      "name the files, too, whose code it hands to the driver"};
    if (!options.allow_empty) {
      print_error(error);
      return kExitNoDeviceCode;
    }
    print_warning(error);
  }
  ARCHGUARD_TRY(bytes, table.bytes(build_id));
  ARCHGUARD_CHECK(write_file(written, std::string(ByteView(bytes).text())));
  return kExitCovered;
}

}  // namespace archguard
