// The environment of child processes.
import { settingNames, settings, type Setting } from "./settings.ts";

/** Returns a copy of this process's environment without the secrets among the settings. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const environment = { ...process.env };
  for (const name of settingNames) if ((settings[name] as Setting).secret) delete environment[name];
  return environment;
}
