const MEANINGS: { readonly [word: string]: string } = {
  lossless:
    "The program matches eager for every input that it accepts, and accepts all that you requested.",
  "fewer sizes": "The program follows the example's path and rejects sizes that the model accepts.",
  lossy: "A requested size becomes static, or an output may change.",
  wrong: "The program differs from the model in a call that it accepts.",
  surprising: "The program does what the trace did, which may not be what the code means.",
  note: "Worth knowing. Nothing is wrong.",
  unbacked: "The size has no value while tracing, so the program is correct for its whole range.",
  "data-dependent": "The size is computed from tensor values, so only a run knows it.",
  fixed: "The program is specialized on this value and rejects others.",
  "narrows a range": "The condition makes the range of a dynamic size smaller.",
  "fixes a size": "Only one value satisfies the condition, so torch specialized the size.",
  "makes two sizes equal": "The two sizes became one symbol.",
  "checked at run time": "The program asserts the condition on each call.",
  "implied by others": "The ranges and other guards already guarantee it.",
  "contradicted elsewhere": "A run or a finding shows that it does not hold, so it has no tick.",
  "not applicable": "This guarantee does not apply to the program.",
  "core ATen": "One of the ops that remain after decomposition, and that backends implement.",
  "non-strict": "Traced by running the Python with fake tensors.",
  strict: "Traced by interpreting the bytecode, without running the Python.",
  Connections: "Tensors that one program returns and another one accepts.",
  SQNR: "Signal-to-quantization-noise ratio: the higher, the closer to the other run.",
  decomposed: "The graph that AOTAutograd passes to Inductor.",
  "post-grad": "The graph after Inductor's passes: what is scheduled and fused.",
  kernels: "The kernel and library calls in the compiled code, each with the ops that it computes.",
};

/** One sentence on a word that not every user of torch knows. */
export function meaningOf(word: string): string | undefined {
  return MEANINGS[word];
}

/** A word with its meaning as a tooltip, if it has one here. */
export function Word({ word, cls }: { word: string; cls?: string }) {
  return (
    <span class={cls} title={meaningOf(word)}>
      {word}
    </span>
  );
}
