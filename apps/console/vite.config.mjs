import tailwindcss from '@tailwindcss/vite';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** With `npm run console:dev` the page comes from Vite and the API from a service that runs beside it. */
const service = process.env.SWITCHBOARD_URL ?? 'http://127.0.0.1:8081';

export default defineConfig({
  root: here('.'),
  base: '/console/',
  plugins: [tailwindcss()],
  resolve: { alias: { '@app/api-client': here('../../libs/api-client/src/index.ts') } },
  build: {
    outDir: process.env.CONSOLE_OUT_DIR ?? here('../../dist/console'),
    emptyOutDir: true,
    target: 'es2022',
    // Fonts and pictures as `data:` would be counted as scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    license: { fileName: 'licences.json' },
    rolldownOptions: {
      // Libraries mark components for servers that render React, which is not done here.
      onLog: (level, log, handle) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle(level, log);
      },
    },
  },
  server: {
    proxy: {
      '/api': service,
      '/mcp': service,
      '/health': service,
      '/docs': service,
      '/console/session': service,
    },
  },
});
