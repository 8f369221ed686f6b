/** A program in Python's place: it notes how it was called, and answers as it was told to. */

import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Answer {
  out?: string;
  error?: string;
  code?: number;
  /** Written where the last argument says. */
  report?: string;
}

/** A shell is there at once; Node would take most of a test's time. */
const SCRIPT = `#!/bin/sh
here=$(dirname "$0")
{ pwd; printf '%s\\n' "$@"; echo; } >> "$here/calls"
for last; do :; done
[ ! -f "$here/report" ] || cat "$here/report" > "$last"
cat "$here/out"; cat "$here/error" >&2
exit "$(cat "$here/code")"
`;

export class FakePython {
  readonly folder = mkdtempSync(join(tmpdir(), "fake-python-"));
  readonly path = join(this.folder, "python");

  constructor(answer: Answer) {
    writeFileSync(this.path, SCRIPT);
    chmodSync(this.path, 0o755);
    this.answers(answer);
  }

  answers({ out = "", error = "", code = 0, report }: Answer): void {
    const texts = { out, error, code: String(code) };
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(this.folder, name), text);
    rmSync(join(this.folder, "report"), { force: true });
    if (report !== undefined) writeFileSync(join(this.folder, "report"), report);
  }

  /** Per call, where it ran and its arguments. */
  get calls(): string[][] {
    const text = readFileSync(join(this.folder, "calls"), "utf8").trimEnd();
    return text.split("\n\n").map((call) => call.split("\n"));
  }
}
