import { render } from 'preact';
import { readConfig } from './api/config.js';
import { chooseLanguage, setLanguage } from './messages/messages.js';
import { App } from './views/App.js';

const language = chooseLanguage(navigator.languages);
setLanguage(language);
document.documentElement.lang = language;
const root = document.getElementById('app');
if (root) render(<App config={readConfig(document)} language={language} />, root);
