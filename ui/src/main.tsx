/** Entry of the page. */
import { render } from 'preact';
import { App } from './app.tsx';
import { keepFocus } from './focus.ts';

render(<App />, document.body);
keepFocus();
