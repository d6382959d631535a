// SPDX-License-Identifier: Apache-2.0
// LLVM's passes, before and after vectorisation.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace strata::simt {

// Lane IR as lower() writes it -> lane IR in SSA form: functions inlined unless recursive or far too much code,
// scalar code simplified, loops rotated, small constant loops unrolled, alignment checks thinned out. Convergent
// calls stay where they are.
void optimizeLane(llvm::Module &module, llvm::TargetMachine &target);

// Scalar clean-up of vector (or expanded lane) code, on which convergence has no claim any more.
void optimizeMachine(llvm::Module &module, llvm::TargetMachine &target);

}  // namespace strata::simt
