#pragma once

#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "fatbin/passed_over.h"

// Files of no known format, in a folder or a zip file: which of them may hold images all the same. `name`
// is the file's, with or without a path.
namespace archguard {

// By its name, in letters of either case. Is it named like a binary: a library, a program, an object or an
// image?
bool is_named_like_binary(std::string_view name);
bool is_named_like_image(std::string_view name);    // .fatbin, .cubin, .ptx: nothing else has such a name
bool is_named_like_program(std::string_view name);  // .so, .so.1, .dll, .exe, .pyd, .node, .whl, …
bool is_named_like_object(std::string_view name);   // .a, .lib, .o, .obj
bool is_named_like_tar(std::string_view name);      // .tar, not packed
bool is_named_like_archive(std::string_view name);  // .tar, .tar.gz, .deb, .rpm, .conda, …

// Is it searched for images? They stand in clear in what programs write down for themselves: kernels that
// Numba and CuPy keep, pickles, plans of TensorRT. A text only speaks of images, and what is packed hides
// them. There may be far more data than that: of more than 4 MiB the name must tell, unless `any_size`.
// `start` has the first bytes, 4 KiB or all of a smaller file.
bool is_searched(std::string_view name, ByteView start, std::uint64_t size, bool any_size);

// A name that promises a library, and a file that begins as none, a web page in its place, or one that
// git-lfs did not fetch: a copy or a download that came to nothing. It may have held anything. A text is
// none: a linker script. Or the name of an object, and zeros or a web page. Or that of an image: it may be
// one that this reader does not know.
bool is_lost_binary(std::string_view name, ByteView start);

// Of a member of an `ar` archive, of no known format, with the name of an object: zeros where that began, no
// byte, or a text, as a pointer of git-lfs or what a server answered. No linker takes a symbol from it.
bool is_lost_member(std::string_view name, ByteView start);

// A name that promises an archive, and a file that begins as none. Within archives that is an error; in a
// folder, whose archives are not read, it is passed over.
bool is_lost_archive(std::string_view name, ByteView start);

// `tar cf x.tar -T /dev/null`: an archive of nothing has no start by which it could be known, its name tells.
bool is_tar_of_nothing(std::string_view name, const ByteSource& bytes);

// Of a file of no known format that holds device code: its name says that it had one, or is a program's and
// it begins with zeros; or it begins with what a server or an editor puts there. More of it may be lost.
bool has_lost_start(std::string_view name, ByteView start);

// Of a file of no known format: does it hold the name of a section that only linked files and objects of CUDA
// have, and no header of one? Then its beginning was overwritten, by whatever.
bool has_lost_elf_header(const ByteSource& source);

// What is to be said of one that was not searched. Bitcode of another name than an object's is a library for
// compilers.
std::optional<UnreadKind> unread_kind(std::string_view name, ByteView start);

}  // namespace archguard
