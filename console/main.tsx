/** Where the page begins. */
import { render } from 'preact';
import { App } from './frame/app.tsx';
import { followScroll } from './frame/route.ts';
import { followSettings } from './frame/settings.ts';
import { showHidden } from './words/visible.ts';

showHidden();
followScroll();
await followSettings();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
