#pragma once

#include <functional>
#include <vector>

#include "commands.h"
#include "coverage/verify.h"
#include "files.h"
#include "kept/kept.h"

namespace archguard {

// What is asked of files.
struct FileQuestions {
  const VerifyRequest& own;
  const VerifyRequest& of_library;  // of those that --needed found
  Waivers& waivers;
  const KeptVerdicts& kept;  // verdicts on those that --needed found; nothing is kept with waivers
  const std::function<bool(const std::string&)>& passes_bitcode;  // as VerifyOptions has it
  const NeededOptions& where;                                     // libraries are looked for
  // Told of what is judged of a file, or a member; may be empty.
  std::function<void(const std::string& path, const std::string& member, const DeviceObject&,
                     const FatbinCode&)>
      on_judged = {};
};

// One of a file's results: of a zip file there is one a member.
struct JudgedFile {
  FileResult result;
  bool is_linked_member = false;  // see needed.h
};

// Judges the files, as visit_files() reads them, and hands their results over in their order.
void judge_files(const std::vector<InputFile>& files, const FileQuestions& questions,
                 const std::function<void(JudgedFile)>& take, const FilesProgress& progress,
                 PassedOver& passed_over);

}  // namespace archguard
