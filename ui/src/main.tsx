import { render } from 'preact';
import { readConfig } from './api/config.js';
import { chooseLanguage, setLanguage } from './messages/messages.js';
import { App } from './views/App.js';

const config = readConfig(document);
const language = chooseLanguage(navigator.languages, config.messages);
setLanguage(language, config.messages);
document.documentElement.lang = language;
const root = document.getElementById('app');
if (root) render(<App config={config} language={language} />, root);
