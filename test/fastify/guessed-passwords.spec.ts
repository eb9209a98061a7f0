// @tags http
import './on-fastify.js';
import '../security/guessed-passwords.spec.js';
