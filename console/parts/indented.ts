/** JSON for people: only the white space between its values is changed. */

/** The same values on lines of their own; `text` is JSON. */
export function indented(text: string): string {
  const out: string[] = [];
  let depth = 0;
  let before = '';
  const line = (): string => `\n${'  '.repeat(depth)}`;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/gs)) {
    const isClosing = token === '}' || token === ']';
    const isOpened = before === '{' || before === '[';
    if (isClosing) depth -= 1;
    if (isClosing !== isOpened || before === ',') out.push(line());
    out.push(token === ':' ? ': ' : token);
    if (token === '{' || token === '[') depth += 1;
    before = token;
  }
  return out.join('');
}
