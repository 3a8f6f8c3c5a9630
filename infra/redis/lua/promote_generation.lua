-- Makes a rebuilt generation of a projection the live one.
--
-- KEYS  1 pointer  2 checkpoint of the live generation (any key if there is none)
--       3 checkpoint of the rebuilt one  4 mark that it is being built
-- ARGV  1 pointer as it was read, '' for none  2 the new one  3 checkpoint of the live generation
--       as it was read, '' for none  4 that of the rebuilt one  5 the builder's token
-- Returns  1 | 0 (one of the four has changed; nothing written)

if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] or (redis.call('GET', KEYS[2]) or '') ~= ARGV[3]
    or redis.call('GET', KEYS[3]) ~= ARGV[4] or redis.call('GET', KEYS[4]) ~= ARGV[5] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[2])
if ARGV[3] ~= '' then
  redis.call('DEL', KEYS[2])
end
redis.call('DEL', KEYS[4])
return 1
