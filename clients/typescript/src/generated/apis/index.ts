/* tslint:disable */
/* eslint-disable */
export * from './AccountsApi.js';
export * from './FilesApi.js';
export * from './OrganisationsApi.js';
export * from './ServiceApi.js';
