// Times feelin. Reads the same question from stdin as python_engines.py and writes the same kind of answer to stdout.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const folder = process.argv[2];
const require = createRequire(`${folder}/package.json`);
const root = `${folder}/node_modules/feelin`;
const { version, main } = JSON.parse(readFileSync(`${root}/package.json`, 'utf-8'));
const { evaluate } = await import(pathToFileURL(require('node:path').join(root, main)));
const asked = JSON.parse(readFileSync(0, 'utf-8'));

function timed(call, count) {
  const begun = process.cpuUsage();
  for (let number = 0; number < count; number++) call();
  const used = process.cpuUsage(begun);
  return (used.user + used.system) / 1e6;
}

function bestUs(call) {
  let count = 1;
  let took = 0;
  while (took < asked.seconds / 5) {
    count *= 2;
    took = timed(call, count);
  }
  return Math.min(...Array.from({ length: 5 }, () => timed(call, count))) / count * 1e6;
}

const figures = asked.expressions.map(({ name, text, expected }) => {
  const found = { engine: 'feelin', version, expression: name, way: 'text' };
  const { value } = evaluate(text, asked.context);
  if (value !== expected) return { ...found, note: `gives ${JSON.stringify(value)} instead of ${JSON.stringify(expected)}` };
  return { ...found, us: bestUs(() => evaluate(text, asked.context)) };
});
process.stdout.write(JSON.stringify(figures));
