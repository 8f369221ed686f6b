import { createRequire } from "node:module";
import { join } from "node:path";
import type { ViteUserConfig } from "vitest/config";

const FRONT_END = join(import.meta.dirname, "../../widgets/frontend/package.json");

/** The tests run with the front end's vitest; `vscode` is there only inside of VS Code. */
export default {
  resolve: {
    alias: {
      vscode: join(import.meta.dirname, "testing/vscode.ts"),
      vitest: createRequire(FRONT_END)
        .resolve("vitest")
        .replace(/[^/\\]+$/, "dist/index.js"),
    },
  },
  test: { include: ["src/**/*.test.ts"], isolate: false, testTimeout: 20_000 },
} satisfies ViteUserConfig;
