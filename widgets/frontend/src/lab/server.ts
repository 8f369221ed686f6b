/** Requests to Export Explorer's part of JupyterLab's server. */

import type { App, Services } from "./shared_modules";

const ABSENT = "the server does not run Export Explorer. Open the file in a notebook.";

export async function ask(app: App, services: Services, what: string): Promise<Response> {
  const { serverSettings } = app.serviceManager;
  const url = `${serverSettings.baseUrl}export-explorer/${what}`;
  const reply = await services.ServerConnection.makeRequest(url, {}, serverSettings);
  if (reply.ok) return reply;
  const said = (await reply.json().catch(() => ({}))) as { message?: string; reason?: string };
  throw new Error(
    said.reason || said.message || (reply.status === 404 ? ABSENT : reply.statusText),
  );
}
