// npm run openapi: writes docs/openapi.yaml.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { projectRoot } from "../project-root.ts";
import { openapiText } from "./openapi/document.ts";

await writeFile(join(projectRoot, "docs/openapi.yaml"), openapiText());
