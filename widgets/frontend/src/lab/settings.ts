/** The extension's settings, as the settings editor of JupyterLab has them. */

/** Named as in `widgets/labextension/settings.json`, which says what each means. */
export interface Settings {
  lastExport: "cell" | "tab" | "sidebar";
  followCursor: boolean;
  squiggles: boolean;
}

/** Defaults if JupyterLab has no registry of settings, or none of ours. */
const DEFAULTS: Settings = { lastExport: "cell", followCursor: true, squiggles: true };

export interface SettingRegistry {
  load(plugin: string): Promise<{
    composite: Partial<Settings>;
    changed: { connect(slot: () => void): unknown };
  }>;
}

/**
 * The settings, which change while JupyterLab runs.
 *
 * @param changed called once they are read, and after each change
 */
export function settingsOf(
  registry: SettingRegistry | null,
  plugin: string,
  changed: (settings: Settings) => void,
): Settings {
  const settings = { ...DEFAULTS };
  registry?.load(plugin).then(
    (loaded) => {
      const take = (): void => {
        Object.assign(settings, loaded.composite);
        changed(settings);
      };
      loaded.changed.connect(take);
      take();
    },
    (error: unknown) => console.warn(`export-explorer: using default settings: ${error}`),
  );
  return settings;
}
