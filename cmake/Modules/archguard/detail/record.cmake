# What was selected for a folder and those below it: one record, whatever function the selection was made in.
include_guard(GLOBAL)

define_property(DIRECTORY PROPERTY ARCHGUARD_SELECTION INHERITED
  BRIEF_DOCS "Number of the last archguard_select_architectures of this folder, or of the next one above"
  FULL_DOCS "Its fields are the global properties ARCHGUARD_SELECTION_<number>_<field>")

# Keeps a selection for the current folder. Fields:
#
#   FLEET    files of devices that were given, as absolute paths
#   DEVICES  the file of devices that were looked at; empty where the list is a baseline
#   JSON     the file with all that arch_probe said
#   BY       archguard | user: who chose the list
#
#   _archguard_keep_selection(FLEET <file>... DEVICES <file> JSON <file> BY <who>)
function(_archguard_keep_selection)
  cmake_parse_arguments(PARSE_ARGV 0 new "" "DEVICES;JSON;BY" "FLEET")
  get_property(number GLOBAL PROPERTY ARCHGUARD_SELECTIONS)
  math(EXPR number "0${number} + 1")
  set_property(GLOBAL PROPERTY ARCHGUARD_SELECTIONS ${number})
  foreach(field IN ITEMS FLEET DEVICES JSON BY)
    set_property(GLOBAL PROPERTY ARCHGUARD_SELECTION_${number}_${field} "${new_${field}}")
  endforeach()
  set_property(DIRECTORY PROPERTY ARCHGUARD_SELECTION ${number})
endfunction()

# <prefix>_FLEET and so on; <prefix>_JSON is empty where nothing was selected.
function(_archguard_selection prefix)
  get_property(number DIRECTORY PROPERTY ARCHGUARD_SELECTION)
  foreach(field IN ITEMS FLEET DEVICES JSON BY)
    set(value "")
    if(number)
      get_property(value GLOBAL PROPERTY ARCHGUARD_SELECTION_${number}_${field})
    endif()
    set(${prefix}_${field} "${value}" PARENT_SCOPE)
  endforeach()
endfunction()
