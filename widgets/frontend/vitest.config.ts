import { playwright } from "@vitest/browser-playwright";
import { defineConfig } from "vitest/config";
import { asTextInVite } from "./bundling.mjs";
import { ARGS, chromiumPath } from "./chromium.mjs";

const IN_CHROMIUM = "src/**/*.browser.test.{ts,tsx}";
const executablePath = chromiumPath();
/** In ms. The page's tests share their cores with all others. */
const PATIENCE = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 10_000 } },
};

export default defineConfig({
  test: {
    projects: [
      {
        plugins: [asTextInVite()],
        test: {
          name: "unit",
          ...PATIENCE,
          environment: "happy-dom",
          isolate: false, // each file cleans up after itself; a page for each takes longer than its tests
          include: ["src/**/*.test.{ts,tsx}"],
          exclude: [IN_CHROMIUM],
        },
      },
      {
        plugins: [asTextInVite()],
        // Found beforehand: vite reloads the page when it meets a package during a test.
        optimizeDeps: { entries: ["src/**/*.{ts,tsx}"] },
        test: {
          name: "chromium",
          ...PATIENCE,
          include: [IN_CHROMIUM],
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({
              launchOptions: { args: ARGS, ...(executablePath ? { executablePath } : {}) },
            }),
            instances: [{ browser: "chromium" }],
          },
        },
      },
    ],
  },
});
