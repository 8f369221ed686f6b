import { expect, test } from "vitest";
import { ask } from "./server";
import type { App, Services } from "./shared_modules";

const app = { serviceManager: { serverSettings: { baseUrl: "/" } } } as unknown as App;

function answering(body: string, status: number): Services {
  const makeRequest = async () => new Response(body, { status, statusText: "Not Found" });
  return { ServerConnection: { makeRequest } } as unknown as Services;
}

test("a server without Export Explorer, as JupyterLite's, is named", async () => {
  await expect(ask(app, answering("<html>", 404), "program")).rejects.toThrow(
    "the server does not run Export Explorer. Open the file in a notebook.",
  );
});

test("Export Explorer's own reason is shown", async () => {
  const reply = answering('{"reason": "There is no such file."}', 404);
  await expect(ask(app, reply, "program")).rejects.toThrow("There is no such file.");
});
