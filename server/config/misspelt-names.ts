// Finds environment variables whose names look like misspelt settings; they would have no effect.
import leven from "leven";
import { settingNames } from "./settings.ts";
import { printableName } from "../operator-messages.ts";

/** Marathon and other schedulers set these beside PORT. */
const foreign = /^PORT(S|\d+)$/;

/** Returns a sentence for each name that is probably misspelt, with the name that was meant; never a value. */
export function describeMisspelt(names: string[]): string[] {
  const known = new Set<string>(settingNames);
  return names.flatMap((name) => {
    if (known.has(name) || foreign.test(name)) return [];
    const meant = settingNames.find((setting) => isSimilar(name.toUpperCase(), setting));
    return meant ? `${printableName(name)} is set but has no effect. Did you mean ${meant}?` : [];
  });
}

/** Allows two edits, or one in a short name, as HOME is two from HOST; or the same letters in another order. */
function isSimilar(name: string, setting: string): boolean {
  const maxEdits = setting.length < 6 ? 1 : 2;
  return leven(name, setting) <= maxEdits || sortLetters(name) === sortLetters(setting);
}

function sortLetters(text: string): string {
  return Array.from(text).toSorted().join("");
}
