// SPDX-License-Identifier: Apache-2.0
// libcuda.a, what -lcuda links: each entry of the driver API jumps through a slot. A slot first leads to the
// resolver, which opens the driver that this machine has, fills the slot and goes on with the call. So one program
// runs with NVIDIA's driver where there is one and with the CPU driver elsewhere, and starts without either.
// cuda_entries.h is made when building: ENTRY(name) for all that the CPU driver exports.

	.section .note.GNU-stack, "", @progbits
	.text

// Entry: push the entry's number and resolve. The caller's argument registers survive.
	.type	strataCudaResolveAndCall, @function
strataCudaResolveAndCall:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	push	%rdi
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	push	%rdx
	.cfi_adjust_cfa_offset 8
	push	%rcx
	.cfi_adjust_cfa_offset 8
	push	%r8
	.cfi_adjust_cfa_offset 8
	push	%r9
	.cfi_adjust_cfa_offset 8
	sub	$128, %rsp
	.cfi_adjust_cfa_offset 128
	movups	%xmm0, (%rsp)
	movups	%xmm1, 16(%rsp)
	movups	%xmm2, 32(%rsp)
	movups	%xmm3, 48(%rsp)
	movups	%xmm4, 64(%rsp)
	movups	%xmm5, 80(%rsp)
	movups	%xmm6, 96(%rsp)
	movups	%xmm7, 112(%rsp)
	mov	176(%rsp), %rdi
	call	strataCudaResolve
	mov	%rax, %r11
	movups	(%rsp), %xmm0
	movups	16(%rsp), %xmm1
	movups	32(%rsp), %xmm2
	movups	48(%rsp), %xmm3
	movups	64(%rsp), %xmm4
	movups	80(%rsp), %xmm5
	movups	96(%rsp), %xmm6
	movups	112(%rsp), %xmm7
	add	$128, %rsp
	.cfi_adjust_cfa_offset -128
	pop	%r9
	.cfi_adjust_cfa_offset -8
	pop	%r8
	.cfi_adjust_cfa_offset -8
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	pop	%rsi
	.cfi_adjust_cfa_offset -8
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	jmp	*%r11
	.cfi_endproc
	.size	strataCudaResolveAndCall, . - strataCudaResolveAndCall

	.set	strataIndex, 0
	.macro	entry name
	.pushsection .data.rel, "aw", @progbits
	.balign	8
	.Lslot\name: .quad .Lresolve\name
	.popsection
	.text
	.globl	\name
	.type	\name, @function
\name:
	jmp	*.Lslot\name(%rip)
.Lresolve\name:
	push	$strataIndex
	jmp	strataCudaResolveAndCall
	.size	\name, . - \name
	.set	strataIndex, strataIndex + 1
	.endm

	.pushsection .data.rel, "aw", @progbits
	.balign	8
	.globl	strataCudaSlots
	.hidden	strataCudaSlots
strataCudaSlots:
	.popsection

#define ENTRY(name) entry name
#include "cuda_entries.h"

	.section .rodata
	.globl	strataCudaNames
	.hidden	strataCudaNames
strataCudaNames:
#undef ENTRY
#define ENTRY(name) .asciz #name
#include "cuda_entries.h"
	.byte	0
