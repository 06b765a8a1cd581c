'use strict';
const { default: Runtime } = require('jest-runtime');
const nodeModule = require('node:module');
const { fileURLToPath, pathToFileURL } = require('node:url');

const builtinModules = Object.getOwnPropertyDescriptor(process, 'getBuiltinModule');
let mapFolder;
let suites = 0;

/** Imports suites with Node instead of into a vm context: see docs/decisions/0032. */
module.exports = class NativeRuntime extends Runtime {
  constructor(config, ...rest) {
    super(config, ...rest);
    // Jest gives every context one of its own; ours is that of the process.
    if (builtinModules) Object.defineProperty(process, 'getBuiltinModule', builtinModules);
    if (!mapFolder) {
      mapFolder = `${config.cacheDirectory}/native-source-maps`;
      const hooks = new URL('typescript-hooks.mjs', pathToFileURL(__filename));
      nodeModule.register(hooks, { data: { mapFolder } });
    }
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  unstable_importModule(path) {
    globalThis[Symbol.for('@jest/globals')] = this.requireModuleOrMock(path, '@jest/globals');
    return import(`${pathToFileURL(path).href}?suite=${++suites}`);
  }

  /** The test framework, whose state is one suite's. */
  requireInternalModule(path) {
    delete require.cache[path];
    return require(path);
  }

  getSourceMaps() {
    return new SourceMaps();
  }
};

/** Source map files by the URL of a suite's copy of a module, as they appear in stacks. */
class SourceMaps extends Map {
  get(url) {
    const [file] = url.split('?');
    if (!file.startsWith('file:') || !file.endsWith('.ts')) return undefined;
    return `${mapFolder}${fileURLToPath(file)}.map`;
  }
}
