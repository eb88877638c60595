/** Where the page begins. */
import { render } from 'preact';
import { App } from './frame/app.tsx';
import { followSettings } from './frame/settings.ts';

await followSettings();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
