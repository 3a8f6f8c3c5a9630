-- Makes, changes or deletes an account's record together with its MAC, if it is still as it was read.
--
-- KEYS  1 the record  2 its MAC
-- ARGV  1 the record that was read, '' for none  2 the new record, '' to delete it
--       3 the new MAC, '' for none  4 ms that both last, 0 for no expiry
-- Returns  1 | 0 (the record has changed; nothing written)

if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then
  return 0
end
if ARGV[2] == '' then
  redis.call('DEL', KEYS[1], KEYS[2])
  return 1
end
local values = {ARGV[2], ARGV[3]}
for i, value in ipairs(values) do
  if value == '' then
    redis.call('DEL', KEYS[i])
  elseif ARGV[4] == '0' then
    redis.call('SET', KEYS[i], value)
  else
    redis.call('SET', KEYS[i], value, 'PX', ARGV[4])
  end
end
return 1
