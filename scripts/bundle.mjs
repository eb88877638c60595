/**
 * Programs in few files, made of what `tsc` writes: Node takes longer to find, read and link their modules than to run
 * them. For the clone and for tests: packages ship what `tsc` writes.
 */
import { dirname } from 'node:path';

/** Of the errors in fifty languages, an eighth of all that a master reads, nobody asks for another. */
const onlyEnglish = {
  name: 'only English',
  setup({ onLoad }) {
    onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, ({ path }) => ({
      contents: "export { default as en } from './en.js';",
      resolveDir: dirname(path),
    }));
  },
};

/** @param files where they come from, by where they go without `.js`. @param options more for esbuild. */
export async function bundle(files, options) {
  // Loaded here: whoever has an error of types need not wait for it.
  const { build } = await import('esbuild');
  await build({
    entryPoints: files,
    bundle: true,
    // What a program loads when it is needed stays apart.
    splitting: true,
    // A quarter less to read at each start; names stay, for those who read where an error came from.
    minifyWhitespace: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    plugins: [onlyEnglish],
    // For libraries that are CommonJS.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    logLevel: 'warning',
    ...options,
  });
}
