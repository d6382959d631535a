# SPDX-License-Identifier: Apache-2.0
"""Whole PyTorch programs on `cuda` against the same on `cpu`: models, training, graphs, compilation, data loading. Needs
torch, torchvision, transformers and accelerate:

    strata run -- python tests/clients/torch_programs.py [NAME…]
"""

import copy
import os
import sys
import tempfile
import traceback

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import torch.nn.functional as F

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def close(a, b, bound=1e-5):
    a, b = torch.as_tensor(a).cpu().double(), torch.as_tensor(b).cpu().double()
    assert a.shape == b.shape, (a.shape, b.shape)
    worst = (a - b).abs().max().item()
    assert worst <= bound, f"{worst} apart"


def output(result):
    return result.logits if hasattr(result, "logits") else result.last_hidden_state


def both(model, inputs):
    """The model on both devices, in evaluation mode, compared on the inputs."""
    on_cpu = model.eval()
    on_cuda = copy.deepcopy(model).cuda()
    with torch.no_grad():
        result = output(on_cuda(inputs.cuda()))
        assert result.is_cuda
        close(result, output(on_cpu(inputs)))
    return on_cpu, on_cuda


def tokens(*shape):
    return torch.randint(0, 100, shape)


def gpt2_config(**more):
    from transformers import GPT2Config

    return GPT2Config(vocab_size=100, n_positions=64, n_embd=32, n_layer=2, n_head=4, **more)


def generates_alike(on_cpu, on_cuda):
    prompt, options = tokens(1, 4), {"max_new_tokens": 10, "do_sample": False, "pad_token_id": 0}
    assert torch.equal(on_cpu.generate(prompt, **options), on_cuda.generate(prompt.cuda(), **options).cpu())
    assert on_cuda.generate(prompt.cuda(), max_new_tokens=5, do_sample=True, pad_token_id=0).shape[1] > 4


@program
def gpt2():
    from transformers import GPT2LMHeadModel

    generates_alike(*both(GPT2LMHeadModel(gpt2_config()), tokens(2, 16)))


@program
def llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=100, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=64,
    )  # fmt: skip
    generates_alike(*both(LlamaForCausalLM(config), tokens(2, 16)))


@program
def bert():
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
        max_position_embeddings=64,
    )  # fmt: skip
    both(BertModel(config), tokens(2, 16))


@program
def vit():
    from transformers import ViTConfig, ViTForImageClassification

    config = ViTConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=32, patch_size=8,
        num_labels=5,
    )  # fmt: skip
    both(ViTForImageClassification(config), torch.randn(2, 3, 32, 32))


@program
def trainer():
    from transformers import GPT2LMHeadModel, Trainer, TrainingArguments

    data = [{"input_ids": tokens(16), "labels": tokens(16)} for _ in range(80)]

    def loss(device):
        torch.manual_seed(1)
        model = GPT2LMHeadModel(gpt2_config(attn_pdrop=0, embd_pdrop=0, resid_pdrop=0))
        with tempfile.TemporaryDirectory() as folder:
            arguments = TrainingArguments(
                folder, max_steps=10, per_device_train_batch_size=4, report_to=[], save_strategy="no",
                use_cpu=device == "cpu", disable_tqdm=True, seed=3, logging_strategy="no",
            )  # fmt: skip
            return Trainer(model, arguments, train_dataset=data).train().training_loss

    close(loss("cuda"), loss("cpu"))


@program
def resnet_training():
    import torchvision

    def losses(device):
        torch.manual_seed(2)
        model = torchvision.models.resnet18(num_classes=10).to(device)
        optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
        images, labels = torch.randn(2, 3, 64, 64).to(device), torch.tensor([1, 2]).to(device)
        found = []
        for _ in range(2):
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return found

    close(losses("cuda"), losses("cpu"), 1e-4)


def layer(device):
    torch.manual_seed(4)
    return torch.nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True, norm_first=True).to(device)


@program
def mixed_precision():
    model, scaler = layer("cuda"), torch.amp.GradScaler("cuda")
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    inputs, losses = torch.randn(4, 16, 64, device="cuda"), []
    for kind in (torch.float16, torch.bfloat16) * 3:
        with torch.autocast("cuda", dtype=kind):
            loss = model(inputs).float().pow(2).mean()
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert losses[-1] < losses[0], losses


@program
def recurrent_cells():
    for kind in (torch.nn.LSTM, torch.nn.GRU):
        torch.manual_seed(6)
        on_cpu = kind(8, 16, num_layers=2)
        on_cuda = copy.deepcopy(on_cpu).cuda()
        inputs = torch.randn(5, 3, 8)
        a, b = on_cpu(inputs)[0], on_cuda(inputs.cuda())[0]
        close(b.detach(), a.detach())
        a.sum().backward()
        b.sum().backward()
        for p, q in zip(on_cpu.parameters(), on_cuda.parameters()):
            close(q.grad, p.grad, 1e-4)


@program
def cuda_graph():
    on_cpu, on_cuda = layer("cpu").eval(), layer("cuda").eval()
    inputs, graph, side = torch.randn(4, 16, 64, device="cuda"), torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.no_grad():
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            on_cuda(inputs)
        torch.cuda.current_stream().wait_stream(side)
        with torch.cuda.graph(graph):
            result = on_cuda(inputs)
        for _ in range(3):
            fresh = torch.randn(4, 16, 64)
            inputs.copy_(fresh)
            graph.replay()
            close(result, on_cpu(fresh))


def compiled_in_mode(mode):
    def function(a, w):
        return F.gelu((a @ w) * 2 + 1).softmax(-1)

    compiled, weights = torch.compile(function, mode=mode), torch.randn(64, 32)
    for _ in range(4):
        inputs = torch.randn(8, 64)
        close(compiled(inputs.cuda(), weights.cuda()), function(inputs, weights))


@program
def compiled():
    compiled_in_mode("default")


@program
def compiled_with_graphs():
    compiled_in_mode("reduce-overhead")


@program
def own_triton_kernel():
    import triton
    import triton.language as tl

    @triton.jit
    def square(x, y, n, block: tl.constexpr):
        i = tl.program_id(0) * block + tl.arange(0, block)
        v = tl.load(x + i, mask=i < n)
        tl.store(y + i, v * v, mask=i < n)

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            y = torch.empty_like(x)
            square[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), 256)
            return y

        @staticmethod
        def backward(ctx, grad):
            return 2 * ctx.saved_tensors[0] * grad

    x = torch.randn(1000, device="cuda", requires_grad=True)
    y = Square.apply(x)
    y.sum().backward()
    close(y.detach(), x.detach() ** 2)
    close(x.grad, 2 * x.detach())


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, i):
        return torch.full((4,), float(i))


@program
def data_loader():
    loader = torch.utils.data.DataLoader(Numbers(), batch_size=8, num_workers=2, pin_memory=True)
    assert sum(batch.cuda(non_blocking=True).sum().item() for batch in loader) == 4 * sum(range(32))


@program
def saved_and_loaded():
    x = torch.randn(5, device="cuda")
    with tempfile.NamedTemporaryFile() as file:
        torch.save(x, file.name)
        assert torch.equal(torch.load(file.name, map_location="cuda"), x)
        assert torch.load(file.name, map_location="cpu").device.type == "cpu"


@program
def random_states():
    torch.cuda.manual_seed(7)
    a = torch.rand(100, device="cuda")
    state = torch.cuda.get_rng_state()
    b = torch.randn(100, device="cuda")
    torch.cuda.manual_seed(7)
    assert torch.equal(torch.rand(100, device="cuda"), a)
    torch.cuda.set_rng_state(state)
    assert torch.equal(torch.randn(100, device="cuda"), b)
    generator = torch.Generator("cuda").manual_seed(3)
    c = torch.rand(10, device="cuda", generator=generator)
    assert not torch.equal(torch.rand(10, device="cuda", generator=generator), c)


@program
def streams_and_events():
    side, begin, end = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    x = torch.zeros(1 << 20, device="cuda")
    begin.record()
    for _ in range(10):
        x += 1
    end.record()
    with torch.cuda.stream(side):
        side.wait_event(end)
        y = x * 2
    side.synchronize()
    assert y.min() == y.max() == 20 and begin.elapsed_time(end) > 0


@program
def out_of_memory():
    try:
        torch.empty(1 << 50, device="cuda")
        raise AssertionError("no error")
    except torch.cuda.OutOfMemoryError as error:
        assert "Tried to allocate" in str(error)
    assert torch.ones(3, device="cuda").sum().item() == 3


def main(names):
    failed = 0
    for name, run in PROGRAMS.items():
        if names and name not in names:
            continue
        torch.manual_seed(0)
        try:
            run()
            print(f"{name}: passed", flush=True)
        except Exception:
            failed += 1
            print(f"{name}: FAILED\n{traceback.format_exc(limit=-3)}", flush=True)
    print(f"torch {torch.__version__}: {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
