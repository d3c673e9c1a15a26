#![no_main]

quant_server_fuzz::target!(authorization_request);
