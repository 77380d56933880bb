#include "doctor/environments.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "base/text.h"
#include "doctor/library_names.h"
#include "doctor/process_files.h"
#include "doctor/python_sites.h"
#include "installed/claims.h"

namespace archguard::doctor {
namespace fs = std::filesystem;
namespace {

bool stands_there(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// "key = value", a line each (PEP 405).
using PyvenvValues = std::map<std::string, std::string>;
Result<PyvenvValues> read_pyvenv(const std::string& path) {
  PyvenvValues values;
  ARCHGUARD_TRY(text, installed::DatabaseFiles().read(path));
  for (const std::string_view line : split(text, '\n'))
    if (const auto equals = line.find('='); equals != std::string_view::npos)
      values[to_lower(trim(line.substr(0, equals)))] = std::string(trim(line.substr(equals + 1)));
  return values;
}

// "3.11.7" → "3.11"
std::string minor_version(const std::string& version) {
  const auto dot = version.find('.');
  if (dot == std::string::npos) return {};
  const auto end = version.find_first_not_of("0123456789", dot + 1);
  return version.substr(0, end);
}

bool is_python_name(const std::string& program) {
  const std::string name = program.substr(program.rfind('/') + 1);
  return starts_with(name, "python") || starts_with(name, "pypy");
}

// Is the environment one that a runner of tools made for one tool: uvx, uv tool, pipx?
std::string runner_of(const std::string& prefix) {
  if (stands_there(prefix + "/pipx_metadata.json")) return "pipx";
  if (stands_there(prefix + "/uv-receipt.toml")) return "uv tool";
  for (const char* const part : {"/uv/archive-v", "/uv/environments-v", "/uv/builds-v"})
    if (prefix.find(part) != std::string::npos) return "uvx";
  return {};
}

class EnvironmentSearch {
 public:
  EnvironmentSearch(const EnvironmentQuestion& question, Facts& facts)
      : question_(question), facts_(facts), variable_(question.variable) {
    if (question.own_program.find('/') != std::string::npos)
      own_prefix_ = folder_of(folder_of(real_of(question.own_program)));
  }

  void find() {
    for (const std::string& prefix : question_.prefixes) add_prefix(prefix, "--prefix");
    for (const std::string& python : question_.pythons) add_python(python, "--python", true);
    for (const std::string& path : question_.paths) add_path(path);
    for (const int pid : question_.pids) add_process(pid);
    const bool named = !question_.prefixes.empty() || !question_.pythons.empty() ||
                       !question_.paths.empty() || !question_.pids.empty();
    if (!named) find_active();
  }

 private:
  void find_active() {
    std::vector<std::string> names;
    for (const char* const name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
      if (const std::string prefix = value_of_variable(name); !prefix.empty() && !is_of_runner(prefix))
        names.emplace_back(name);
    if (names.size() > 1) keep_first_in_path(names);
    bool active = false;
    for (const std::string& name : names) active |= add_prefix(value_of_variable(name.c_str()), name);
    if (active) return;
    if (stands_there(".venv/pyvenv.cfg")) {
      add_prefix(".venv", "this folder");
      return;
    }
    const std::string path = question_.variable("PATH").value_or("");
    for (const std::string_view each : split(path, ':'))
      for (const char* const name : {"/python3", "/python"}) {
        std::error_code error;
        const std::string folder(each), program = folder + name;
        if (folder.empty() || !fs::is_regular_file(program, error)) continue;
        if (is_of_runner(folder_of(folder)) || is_script(program)) continue;
        if (add_python(program, "first in $PATH", false)) return;
      }
  }

  // Of two active ones a shell runs the one whose Python stands first in PATH, and nothing of the other.
  void keep_first_in_path(std::vector<std::string>& names) {
    const std::string path = value_of_variable("PATH");
    for (const std::string_view each : split(path, ':'))
      for (const std::string& name : names) {
        const std::string folder(each), prefix = value_of_variable(name.c_str());
        if (folder.empty() || real_of(folder) != real_of(prefix + "/bin") ||
            !(stands_there(folder + "/python") || stands_there(folder + "/python3")))
          continue;
        for (const std::string& other : names)
          if (const std::string left = value_of_variable(other.c_str()); real_of(left) != real_of(prefix))
            facts_.notes.push_back(other + " " + left +
                                   " is active too and not judged: the Python in PATH is that of " + name +
                                   "; --prefix " + left + " judges it");
        names = {name};
        return;
      }
  }

  bool is_of_runner(const std::string& prefix) {
    const std::string real = real_of(prefix);
    const std::string runner = runner_of(real);
    if (runner.empty() || (real != own_prefix_ && !own_prefix_.empty())) return false;
    facts_.notes.push_back(prefix + " is where " + runner + " runs archguard: it is not judged");
    return true;
  }

  // A shim of pyenv or asdf, which chooses a Python when it is started.
  static bool is_script(const std::string& program) {
    const auto source = FileSource::open(program);
    if (!source || source->size() < 2) return true;
    char start[2];
    return !source->read(0, start, 2) || (start[0] == '#' && start[1] == '!');
  }

  void fail(const std::string& what, const std::string& why, const std::string& fix) {
    facts_.unread.push_back(Error{what, why, fix});
  }

  bool add(PythonEnvironment environment) {
    if (environment.kind != "folder") add_python_path(environment);
    for (PythonEnvironment& known : facts_.environments) {
      if (real_of(known.prefix) != real_of(environment.prefix) || known.kind != environment.kind) continue;
      for (const std::string& site : environment.sites)  // two processes may have two of PYTHONPATH
        if (!has_site(known, site)) known.sites.push_back(site);
      return true;
    }
    facts_.environments.push_back(std::move(environment));
    return true;
  }

  std::string value_of_variable(const char* name) const { return variable_(name).value_or(""); }

  // PYTHONPATH comes first in sys.path.
  void add_python_path(PythonEnvironment& environment) const {
    std::vector<std::string> sites;
    const std::string list = value_of_variable("PYTHONPATH");
    for (const std::string_view each : split(list, ':')) {
      const std::string folder(each);
      if (!is_a_folder(folder) || has_site(environment, folder)) continue;
      (is_site(folder) ? sites : environment.module_folders).push_back(folder);
      environment.besides.push_back(folder + " (PYTHONPATH)");
    }
    environment.sites.insert(environment.sites.begin(), sites.begin(), sites.end());
  }

  // What `pip install --user` has installed (PEP 370).
  std::vector<std::string> user_sites(PythonEnvironment& environment) {
    std::vector<std::string> sites;
    std::string base = value_of_variable("PYTHONUSERBASE");
    if (const std::string home = value_of_variable("HOME"); base.empty() && !home.empty())
      base = home + "/.local";
    if (base.empty() || !value_of_variable("PYTHONNOUSERSITE").empty()) return sites;
    for (const std::string& home : subfolders(base + "/lib", "python3", &facts_.unread)) {
      const std::string site = home + "/site-packages";
      if (!is_searched_by(environment, version_of_home(home)) || !is_a_folder(site) ||
          has_site(environment, site))
        continue;
      sites.push_back(site);
      environment.besides.push_back(site + " (pip install --user)");
    }
    return sites;
  }

  void add_user_sites_first(PythonEnvironment& environment) {
    const std::vector<std::string> sites = user_sites(environment);
    environment.sites.insert(environment.sites.begin(), sites.begin(), sites.end());
  }

  bool add_prefix(const std::string& prefix, const std::string& by) {
    if (!is_a_folder(prefix)) {
      std::error_code error;
      if (fs::status(prefix, error).type() == fs::file_type::none) {
        fail(by + " " + prefix, "cannot be looked at: " + error.message(),
             "run archguard as a user who can read it");
        return false;
      }
      if (by == "--prefix" && stands_there(prefix)) {
        const bool python = is_python_name(prefix) || is_python_name(real_of(prefix));
        fail(by + " " + prefix, python ? "is a program" : "is a file",
             python ? "write --python " + prefix : "name the folder that holds bin and lib");
        return false;
      }
      fail(by + " " + prefix, "there is no such folder",
           by == "--prefix" ? "name the folder that holds bin and lib" : "unset " + by);
      return false;
    }
    const std::size_t unread = facts_.unread.size();
    PythonEnvironment environment{"folder", prefix, by, {}, {}, {}};
    if (stands_there(prefix + "/pyvenv.cfg")) {
      add_venv(environment);
    } else {
      if (stands_there(prefix + "/conda-meta")) environment.kind = "conda";
      add_sites(environment, prefix, facts_.unread);
      environment.folders = {prefix + "/lib", prefix + "/bin", prefix + "/targets/x86_64-linux/lib",
                             prefix + "/nvvm/lib64"};
      if (environment.kind == "folder" && !environment.sites.empty()) environment.kind = "system";
      if (environment.python.empty()) environment.python = python_of_program(prefix + "/bin/python3");
      if (environment.kind != "folder") add_user_sites_first(environment);
    }
    if (environment.sites.empty() && environment.kind != "conda") {
      if (facts_.unread.size() != unread) return false;  // that is why
      fail(by + " " + prefix,
           "is no environment: it has neither pyvenv.cfg nor conda-meta nor "
           "lib/python3*/site-packages",
           "name the folder that holds bin and lib; to judge files of a folder, name it as PATH");
      return false;
    }
    return add(std::move(environment));
  }

  void add_venv(PythonEnvironment& environment) {
    environment.kind = "venv";
    const auto values = read_pyvenv(environment.prefix + "/pyvenv.cfg");
    if (!values) facts_.unread.push_back(values.error());
    const auto value = [&](const char* key) {
      const auto found = values ? values->find(key) : PyvenvValues::const_iterator();
      return !values || found == values->end() ? std::string() : found->second;
    };
    environment.python = minor_version(value("version").empty() ? value("version_info") : value("version"));
    add_sites(environment, environment.prefix, facts_.unread);
    environment.folders = {environment.prefix + "/bin", environment.prefix + "/lib"};
    if (to_lower(value("include-system-site-packages")) != "true" || value("home").empty()) return;
    const std::vector<std::string> sites = user_sites(environment);
    environment.sites.insert(environment.sites.end(), sites.begin(), sites.end());
    add_sites(environment, folder_of(value("home")), facts_.unread);
  }

  // `must`: it was named.
  bool add_python(const std::string& program, const std::string& by, bool must) {
    std::string path = program;
    if (must && path.find('/') == std::string::npos) path = in_path(path);
    std::error_code error;
    if (must && is_a_folder(path)) {
      fail(by + " " + program, "is a folder", "write --prefix " + program);
      return false;
    }
    if (path.empty() || !fs::is_regular_file(path, error)) {
      if (must) fail(by + " " + program, "there is no such program", "name the path of a Python");
      return false;
    }
    if (by == "--python" && !is_python_name(path) && !is_python_name(real_of(path))) {
      fail(by + " " + program, "is no Python", "name one, such as /usr/bin/python3");
      return false;
    }
    const std::string prefix = folder_of(folder_of(path));
    if (stands_there(prefix + "/pyvenv.cfg") || stands_there(prefix + "/conda-meta"))
      return add_prefix(prefix, by);
    if (is_script(path)) {
      if (must)
        fail(by + " " + program,
             "is a script that chooses a Python when it is started, which is not done here",
             "name the Python itself, or its --prefix");
      return false;
    }
    const std::string real = real_of(path);
    PythonEnvironment environment{"system", folder_of(folder_of(real)), by, {}, {}, {}};
    if (stands_there(environment.prefix + "/conda-meta") || stands_there(environment.prefix + "/pyvenv.cfg"))
      return add_prefix(environment.prefix, by);
    environment.python = python_of_program(real);
    const std::size_t unread = facts_.unread.size();
    if (environment.prefix == "/usr") add_sites(environment, "/usr/local", facts_.unread);
    add_sites(environment, environment.prefix, facts_.unread);
    add_user_sites_first(environment);
    environment.folders = {environment.prefix + "/lib"};
    if (environment.sites.empty() && must && facts_.unread.size() == unread)
      fail(by + " " + program, "has no folder of packages below " + environment.prefix, "name its --prefix");
    return !environment.sites.empty() && add(std::move(environment));
  }

  void add_process(int pid) {
    const std::string by = "--pid " + std::to_string(pid);
    const auto process = read_process(pid);
    if (!process) return fail(by, process.error().what, process.error().fix);
    ProcessFacts told;
    told.id = pid;
    for (const std::string& path : process->files)
      if (const std::string name = path.substr(path.rfind('/') + 1);
          library_name(name) || starts_with(name, "libcuda.so"))
        told.libraries.push_back(path);
    facts_.processes.push_back(std::move(told));
    if (process->variables)
      variable_ = [&](const char* name) {
        const auto found = process->variables->find(name);
        return found == process->variables->end() ? std::nullopt : std::optional<std::string>(found->second);
      };
    add_python_of(*process, by);
    variable_ = question_.variable;
  }

  // Its libraries tell the Python that a venv was made from, and that does not tell the venv.
  void add_python_of(const RunningProcess& process, const std::string& by) {
    bool python = is_python_name(process.program);
    std::map<std::string, std::string> packages;  // a prefix, and a file of a package below it
    for (const std::string& path : process.files)
      for (const char* const lib : {"/lib/python3", "/lib64/python3"}) {
        const auto at = path.find(lib);
        if (at == std::string::npos) continue;
        python = true;
        if (path.find("/site-packages/", at) != std::string::npos ||
            path.find("/dist-packages/", at) != std::string::npos)
          packages.emplace(path.substr(0, at), path);
      }
    if (!python) {
      if (!process.program.empty()) add({"folder", process.program, "--pid", {}, {process.program}, {}});
      return;
    }
    bool known = add_started(process);
    for (const auto& [prefix, file] : packages)
      known |= stands_in_a_site(file) || add_prefix(prefix, "--pid");
    if (!known)
      fail(by,
           "is a Python whose environment is not known: neither its first argument nor its "
           "VIRTUAL_ENV leads to the program that runs",
           "name it too: --prefix DIR");
  }

  bool add_started(const RunningProcess& process) {
    const bool embedded = !is_python_name(process.program);
    if (const std::string program = path_started(process); !embedded && !program.empty())
      return add_python(program, "--pid", true);
    const std::string venv = process.variables ? value_of_variable("VIRTUAL_ENV") : std::string();
    return stands_there(venv + "/pyvenv.cfg") &&
           (embedded || real_of(venv + "/bin/python") == process.program) && add_prefix(venv, "--pid");
  }

  bool stands_in_a_site(const std::string& path) const {
    const auto holds = [&](const std::string& site) { return starts_with(path, real_of(site) + "/"); };
    return std::any_of(facts_.environments.begin(), facts_.environments.end(), [&](const auto& each) {
      return std::any_of(each.sites.begin(), each.sites.end(), holds);
    });
  }

  std::string in_path(const std::string& name) const {
    const std::string path = question_.variable("PATH").value_or("");
    for (const std::string_view each : split(path, ':'))
      if (const std::string program = std::string(each) + "/" + name; !each.empty() && stands_there(program))
        return program;
    return {};
  }

  void add_path(const std::string& path) {
    if (!stands_there(path)) return fail(path, "there is no such file or folder", {});
    const bool environment = stands_there(path + "/pyvenv.cfg") || stands_there(path + "/conda-meta") ||
                             !subfolders(path + "/lib", "python3").empty();
    if (is_a_folder(path) && environment) {
      add_prefix(path, "named");
      return;
    }
    const std::string above = folder_of(path);
    if (path.substr(path.rfind('/') + 1) == "bin" &&
        (stands_there(above + "/pyvenv.cfg") || stands_there(above + "/conda-meta")))
      return fail(path, "holds the programs of the environment " + above + " and none of its packages",
                  "archguard doctor --prefix " + above);
    add({"folder", path, "named", {}, {path}, {}});
  }

  const EnvironmentQuestion& question_;
  Facts& facts_;
  std::function<std::optional<std::string>(const char*)>
      variable_;  // of this process, or of the one looked at
  std::string own_prefix_;
};

}  // namespace

void find_environments(const EnvironmentQuestion& question, Facts& facts) {
  EnvironmentSearch(question, facts).find();
}

std::string describe(const PythonEnvironment& environment) {
  std::string text = environment.kind + " " + environment.prefix +
                     (environment.python.empty() ? "" : ", Python " + environment.python) + " (" +
                     environment.named_by + ")";
  if (!environment.besides.empty()) text += ", with " + join(environment.besides, ", ");
  return text;
}

}  // namespace archguard::doctor
