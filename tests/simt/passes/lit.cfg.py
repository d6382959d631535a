# SPDX-License-Identifier: Apache-2.0
import lit.formats

config.name = "simt-passes"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".ll"]
config.test_source_root = __file__.rsplit("/", 1)[0]
config.test_exec_root = lit_config.params["out"]
config.substitutions.append(("%simt-opt", lit_config.params["simt_opt"]))
config.substitutions.append(("FileCheck", lit_config.params["llvm"] + "/bin/FileCheck"))
