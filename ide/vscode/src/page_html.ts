/** The page of a program, before anything is in it. Pure. */

interface Parts {
  /** The address of `webview.js`. */
  script: string;
  /** Of this page only: no other script runs in it. */
  nonce: string;
}

/**
 * Only scripts with the nonce run, and what they import. A worker that places the graph comes from a
 * blob of the front end's own; nothing is fetched. Styles are the front end's, which has no text of a
 * model in them.
 */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'wasm-unsafe-eval'`,
    "worker-src blob:",
    "style-src 'unsafe-inline'",
    "img-src data: blob:",
    "font-src data:",
  ].join("; ");
}

export function pageHtml({ script, nonce }: Parts): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy(nonce)}">
<meta name="viewport" content="width=device-width">
<style>
html, body { height: 100%; }
body { margin: 0; padding: 0; color: var(--vscode-editor-foreground); background: var(--vscode-editor-background); font-family: var(--vscode-font-family); font-size: var(--vscode-font-size); }
main { box-sizing: border-box; padding: 6px 8px; --tx-height: calc(100vh - 16px); }
.failed { max-width: 640px; padding: 24px 16px; line-height: 1.5; }
.failed code { display: block; margin: 12px 0; padding: 8px 10px; font-family: var(--vscode-editor-font-family); background: var(--vscode-textCodeBlock-background); user-select: all; overflow-wrap: anywhere; }
.failed button { margin: 12px 8px 0 0; padding: 5px 12px; color: var(--vscode-button-foreground); background: var(--vscode-button-background); border: 0; border-radius: 2px; font: inherit; cursor: pointer; }
.failed button:hover { background: var(--vscode-button-hoverBackground); }
.failed button:focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: 2px; }
</style>
<title>Export Explorer</title>
</head>
<body>
<main id="program" role="status">Reading the file …</main>
<script type="module" nonce="${nonce}" src="${script}"></script>
</body>
</html>
`;
}
