/** The report of `export-explorer check --format sarif`. Pure. */

export interface Problem {
  code: string;
  level: "error" | "warning" | "note";
  message: string;
  /** A URI, or a path from where the check ran; null for a problem without a line. */
  file: string | null;
  /** From 1. */
  line: number;
  /** The page on its code, in Markdown; empty if there is none. */
  page: string;
}

interface Sarif {
  runs: {
    tool: { driver: { rules: { id: string; help?: { markdown?: string } }[] } };
    results: {
      ruleId: string;
      level: Problem["level"];
      message: { text: string };
      locations?: {
        physicalLocation: { artifactLocation: { uri: string }; region: { startLine: number } };
      }[];
    }[];
  }[];
}

export function problemsIn(report: string): Problem[] {
  const { runs } = JSON.parse(report) as Sarif;
  return runs.flatMap(({ tool, results }) => {
    const pages = new Map(tool.driver.rules.map(({ id, help }) => [id, help?.markdown ?? ""]));
    return results.map(({ ruleId, level, message, locations }) => {
      const place = locations?.[0]?.physicalLocation;
      return {
        code: ruleId,
        level,
        message: message.text,
        file: place?.artifactLocation.uri ?? null,
        line: place?.region.startLine ?? 1,
        page: pages.get(ruleId) ?? "",
      };
    });
  });
}

/** A function that `export-explorer check file.py:name` can call. */
export interface Callable {
  name: string;
  /** From 0. */
  line: number;
}

/** The functions at the top of a file that take no argument, with the one around a line first. */
export function callablesIn(text: string, cursor: number): Callable[] {
  const found: Callable[] = [];
  for (const [line, content] of text.split(/\r\n|\r|\n/).entries()) {
    const name = /^def\s+([A-Za-z_]\w*)\s*\(\s*\)/.exec(content)?.[1];
    if (name) found.push({ name, line });
  }
  const around = found.findLast(({ line }) => line <= cursor);
  return around ? [around, ...found.filter((each) => each !== around)] : found;
}
