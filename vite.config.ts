// Vite: builds the browser's files (vite build) and the server's bundle (vite build --ssr), and serves the client in development.
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig, type EnvironmentModuleNode, type Plugin, type UserConfig } from "vite";
import { compression } from "vite-plugin-compression2";

/** The build adapts syntax and CSS to them; tests/budgets.test.ts finds calls of newer functions. */
export const oldestBrowsers = ["chrome109", "edge109", "firefox115", "safari16.0", "ios16.0"];

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** A newcomer cannot act on how long each plugin took. */
const checks = { bundlerTimings: false };

const browser: UserConfig = {
  root: path("client"),
  // Without it, /@fs/ serves the whole project to every program of the machine, with the passwords in .data/ and the lists in exports/.
  server: { fs: { allow: [path("client"), path("node_modules")] } },
  plugins: [
    react(),
    scriptAtLowPriority(),
    reloadForServerModules(),
    compression({ algorithms: ["gzip", "brotliCompress"] }),
  ],
  build: {
    target: oldestBrowsers,
    outDir: path("dist/client"),
    emptyOutDir: true,
    rolldownOptions: { input: [path("client/index.html"), path("client/other-pages.css")], checks },
    // The MIT licence requires its notice in every copy; the minified files have none.
    license: { fileName: "licenses.txt" },
    modulePreload: { polyfill: false },
    // Inlined assets would need data: in the CSP.
    assetsInlineLimit: 0,
  },
};

const server: UserConfig = {
  root: path("client"),
  define: { "process.env.NODE_ENV": '"production"' },
  // The bundle runs without node_modules. Only development needs Vite.
  ssr: { noExternal: true, external: ["vite"] },
  build: {
    ssr: true,
    outDir: path("dist/server"),
    emptyOutDir: true,
    license: { fileName: "licenses.txt" },
    copyPublicDir: false,
    rolldownOptions: {
      checks,
      input: {
        index: path("server/index.ts"),
        migrate: path("server/commands/migrate.ts"),
        studio: path("server/commands/studio.ts"),
        waitlist: path("server/commands/waitlist.ts"),
        worker: path("server/worker/index.ts"),
      },
      onLog(level, log, handle) {
        // "use client" has no meaning on this server.
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") handle(level, log);
      },
    },
  },
};

export default defineConfig(({ command, isSsrBuild }) => {
  // The JSX transform and React's own files follow it, and the shell's may be meant for another program.
  process.env.NODE_ENV = command === "build" ? "production" : "development";
  return isSsrBuild ? server : browser;
});

/** Loads the script after the font. Vite replaces the script's tag and drops the attributes of the template. */
function scriptAtLowPriority(): Plugin {
  return {
    name: "script-at-low-priority",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler: (html) => html.replace('<script type="module"', '<script type="module" fetchpriority="low"'),
    },
  };
}

/** Reloads the open pages after an edit that Fast Refresh does not show: of a module that is rendered outside of the browser's components. */
function reloadForServerModules(): Plugin {
  return {
    name: "reload-for-server-modules",
    apply: "serve",
    hotUpdate({ file, modules, server: { config, environments } }) {
      // An edit outside client/ restarts the server, after which each page reloads itself.
      if (this.environment.name !== "ssr" || !file.startsWith(`${config.root}/`)) return;
      const { hot, moduleGraph } = environments.client;
      const seen = new Set<EnvironmentModuleNode>();
      const isShown = (module: EnvironmentModuleNode): boolean => {
        if (seen.has(module)) return true;
        seen.add(module);
        const loaded = moduleGraph.getModuleById(module.id ?? "");
        return loaded?.isSelfAccepting || (loaded !== undefined && [...module.importers].every(isShown));
      };
      if (!modules.every(isShown)) hot.send({ type: "full-reload" });
    },
  };
}
